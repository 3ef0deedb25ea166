"""Training while a background thread reports progress and memory."""
import argparse
import resource
import threading

import torch
from torch import nn


class Monitor(threading.Thread):
    def __init__(self, interval=0.01):
        super().__init__(daemon=True)
        self.interval = interval
        self.finished = threading.Event()
        self.latest = None
        self.reports = 0

    def run(self):
        while not self.finished.wait(self.interval):
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"[monitor] {self.latest} peak {peak} MB", flush=True)
            self.reports += 1

    def stop(self):
        self.finished.set()
        self.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(81)
    images = torch.randn(64, 1, 12, 12)
    labels = (images.mean(dim=(1, 2, 3)) > 0).long()
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    monitor = Monitor()
    monitor.start()
    try:
        for step in range(args.steps):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            monitor.latest = f"step {step} loss {loss.item():.4f}"
    finally:
        monitor.stop()
    print(monitor.latest, f"({monitor.reports} reports)")


if __name__ == "__main__":
    main()
