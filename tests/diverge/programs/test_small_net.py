"""The network's own tests: each learns a little and must get better."""
import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True)
def seed(request):
    """Another seed for each test, so that they are independent of each other's order."""
    torch.manual_seed(hash(request.node.name) % 2**32)


def make_net(inp=4, hidden=16, out=1):
    return nn.Sequential(nn.Linear(inp, hidden), nn.ReLU(), nn.Linear(hidden, out))


def fit(net, x, y, steps=6, lr=0.05):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_loss_falls_on_a_plane():
    net = make_net()
    x = torch.randn(64, 4)
    y = x.sum(dim=1, keepdim=True)
    losses = fit(net, x, y)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("hidden", [4, 32])
def test_gradients_reach_every_layer(hidden):
    net = make_net(hidden=hidden)
    net(torch.ones(2, 4)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
