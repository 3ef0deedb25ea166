"""Tone detection; the shards are packed, and a pool unpacks them before training."""
import argparse
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
import torch
from torch import nn


def pack(shard, clips=16, samples=4096):
    """Stands in for the download: clips of noise, every second one with a tone in it."""
    rng = np.random.default_rng(shard)
    t = np.arange(samples) / samples
    waves = rng.standard_normal((clips, samples))
    waves[1::2] += np.sin(2 * np.pi * (300 + 40 * shard) * t)
    return zlib.compress((waves * 1000).astype(np.int16).tobytes(), level=1)


def unpack(blob, bands=16, samples=4096):
    """Log band energies of a shard's clips, with their labels."""
    waves = np.frombuffer(zlib.decompress(blob), dtype=np.int16).reshape(-1, samples) / 1000
    power = np.abs(np.fft.rfft(waves, axis=1)[:, 1:]) ** 2
    energies = power.reshape(len(waves), bands, -1).mean(axis=2)
    return np.log(energies).astype(np.float32) - 8.0, np.arange(len(waves)) % 2


def load(blobs, threads):
    loaded = []
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [pool.submit(unpack, blob) for blob in blobs]
        for future in as_completed(futures):
            loaded.append(future.result())
    return loaded


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(19)
    model = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    blobs = [pack(shard) for shard in range(args.shards)]
    for step, (features, labels) in enumerate(load(blobs, args.threads)):
        x = torch.from_numpy(features)
        y = torch.from_numpy(labels)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"shard {step:2d}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
