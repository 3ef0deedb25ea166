from torch import nn


class Generator(nn.Module):
    def __init__(self, latent, out):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(latent, 32),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Linear(32, out),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, inp):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(inp, 32),
            nn.LeakyReLU(0.2),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)
