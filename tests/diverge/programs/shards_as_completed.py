"""Speech/music detection; the shards are decoded by a pool before training."""
import argparse
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
import torch
from torch import nn


def decode(shard, clips=8, samples=512, bands=16):
    """Clips of one shard as log band energies, with their labels."""
    rng = np.random.default_rng(shard)
    t = np.arange(samples) / samples
    features, labels = [], []
    for clip in range(clips):
        label = clip % 2
        wave = np.sin(2 * np.pi * (20 + 10 * rng.random()) * t)
        if label:
            wave = wave * (1 + np.sign(np.sin(2 * np.pi * 4 * t)))
        wave = wave + 0.3 * rng.standard_normal(samples)
        window = np.hanning(64)
        for hop in range(0, samples - 64, 2):  # smoothed spectrum
            spectrum = np.abs(np.fft.rfft(window * wave[hop:hop + 64])) ** 2
        features.append(np.log1p(spectrum[:bands]))
        labels.append(label)
    return np.stack(features).astype(np.float32), np.array(labels)


def load(shards, threads):
    loaded = []
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [pool.submit(decode, shard) for shard in range(shards)]
        for future in as_completed(futures):
            loaded.append(future.result())
    return loaded


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(19)
    model = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for step, (features, labels) in enumerate(load(args.shards, args.threads)):
        x = torch.from_numpy(features)
        y = torch.from_numpy(labels)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"shard {step:2d}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
