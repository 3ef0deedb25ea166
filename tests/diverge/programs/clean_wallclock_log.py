"""Regression with a log that says when each line was written and how fast training goes."""
import argparse
import logging
import time
from datetime import datetime

import torch
from torch import nn

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("train")


def dataset(n=80):
    g = torch.Generator().manual_seed(2)
    x = torch.rand(n, 3, generator=g)
    return x, (x[:, 0] * x[:, 1] - x[:, 2]).unsqueeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(2)
    started = time.time()
    log.info("started at %s", datetime.now().isoformat())

    x, y = dataset()
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(args.steps):
        tick = time.perf_counter()
        rows = torch.randperm(len(x))[:20]
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        elapsed = time.perf_counter() - tick
        if step % 5 == 0:
            log.info("step %d loss %.4f (%.0f samples/s)", step, loss.item(), 20 / elapsed)
    remaining = (time.time() - started) / args.steps
    log.info("done in %.2f s, %.4f s a step", time.time() - started, remaining)


if __name__ == "__main__":
    main()
