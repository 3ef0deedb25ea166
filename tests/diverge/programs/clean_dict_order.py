"""Multi-task training: tasks, losses and parameter groups are kept in dictionaries."""
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(16, size) for name, size in tasks.items()})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}


def main(steps=20):
    torch.manual_seed(61)
    tasks = {"depth": 1, "normal": 3, "edge": 1}
    weights = dict.fromkeys(tasks, 1.0) | {"edge": 0.5}
    x = torch.randn(48, 6)
    targets = {name: torch.tanh(x @ torch.randn(6, size)) for name, size in tasks.items()}
    model = MultiTask(tasks)
    groups = {"trunk": {"params": model.trunk.parameters(), "lr": 0.01}}
    for name, head in model.heads.items():
        groups[name] = {"params": head.parameters(), "lr": 0.05}
    optimizer = torch.optim.SGD(list(groups.values()), momentum=0.9)
    for step in range(steps):
        outputs = model(x)
        losses = {name: nn.functional.mse_loss(outputs[name], targets[name]) for name in tasks}
        loss = sum(weights[name] * value for name, value in losses.items())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print({name: round(value.item(), 4) for name, value in losses.items()})


if __name__ == "__main__":
    main()
