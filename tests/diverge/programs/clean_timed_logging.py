"""Prints the loss now and then: when some time has passed since the last line."""
import time

import torch
from torch import nn


class Throttled:
    def __init__(self, seconds):
        self.seconds = seconds
        self.last = 0.0

    def __call__(self, step, loss, model):
        now = time.monotonic()
        if now - self.last < self.seconds:
            return
        self.last = now
        with torch.no_grad():
            norm = torch.stack([p.norm() for p in model.parameters()]).norm()
        print(f"step {step:3d}  loss {loss.item():.4f}  weight norm {norm.item():.4f}")


def main(steps=20):
    torch.manual_seed(36)
    series = torch.sin(torch.arange(120) * 0.3) + 0.1 * torch.randn(120)
    windows = series.unfold(0, 13, 1)
    x, y = windows[:, :12].unsqueeze(2), windows[:, 12]
    rnn, head = nn.LSTM(1, 12, batch_first=True), nn.Linear(12, 1)
    model = nn.ModuleList([rnn, head])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    report = Throttled(0.004)
    for step in range(steps):
        rows = torch.randint(len(x), (16,))
        loss = nn.functional.mse_loss(head(rnn(x[rows])[0][:, -1]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report(step, loss, model)


if __name__ == "__main__":
    main()
