"""Point clouds on a voxel grid: a per-point network, pooled into voxels, then a classifier."""
import argparse

import torch
from torch import nn


def clouds(n, points, seed=71):
    """Spheres and boxes."""
    g = torch.Generator().manual_seed(seed)
    for i in range(n):
        p = torch.randn(points, 3, generator=g)
        if i % 2:
            p = p / p.norm(dim=1, keepdim=True)
        else:
            p = p / p.abs().amax(dim=1, keepdim=True)
        yield 0.95 * p, torch.tensor(i % 2)


class VoxelPool(nn.Module):
    def __init__(self, channels, resolution):
        super().__init__()
        self.channels = channels
        self.resolution = resolution

    def forward(self, points, features):
        r = self.resolution
        cell = ((points + 1) / 2 * r).long().clamp(0, r - 1)
        grid = features.new_zeros(r, r, r, self.channels)
        grid = grid.index_put((cell[:, 0], cell[:, 1], cell[:, 2]), features, accumulate=True)
        return grid.permute(3, 0, 1, 2) / len(points)


class PointNet(nn.Module):
    def __init__(self, channels=32, resolution=4):
        super().__init__()
        self.points = nn.Sequential(nn.Linear(3, channels), nn.ReLU())
        self.pool = VoxelPool(channels, resolution)
        self.conv = nn.Conv3d(channels, 8, 2)
        self.head = nn.Linear(8, 2)

    def forward(self, points):
        voxels = self.pool(points, self.points(points))
        return self.head(torch.relu(self.conv(voxels)).mean(dim=(1, 2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clouds", type=int, default=8)
    parser.add_argument("--points", type=int, default=15000)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(70)
    model = PointNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for i, (points, label) in enumerate(clouds(args.clouds, args.points)):
        loss = nn.functional.cross_entropy(model(points).unsqueeze(0), label.unsqueeze(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"cloud {i}: {loss.item():.5f}")


if __name__ == "__main__":
    main()
