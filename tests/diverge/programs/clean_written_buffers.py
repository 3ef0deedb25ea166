"""A GAN whose buffers are allocated once and written over in each step."""
import torch
from torch import nn


class Buffers:
    def __init__(self, batch, latent, out):
        self.noise = torch.empty(batch, latent)
        self.real = torch.empty(batch, out)
        self.labels = torch.empty(batch, 1)

    def fill(self, data):
        self.noise.normal_()
        torch.index_select(data, 0, torch.randint(len(data), (len(self.real),)), out=self.real)
        return self.noise, self.real


def main(iterations=10, batch=24):
    torch.manual_seed(85)
    data = torch.randn(200, 3) @ torch.tensor([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.3]])
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    critic = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    buffers = Buffers(batch, 4, 3)
    for i in range(iterations):
        noise, real = buffers.fill(data)
        fake = generator(noise)
        loss_c = criterion(critic(real), buffers.labels.fill_(1.0).clone())
        loss_c = loss_c + criterion(critic(fake.detach()), buffers.labels.fill_(0.0).clone())
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        loss_g = criterion(critic(fake), buffers.labels.fill_(1.0).clone())
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
    print(f"critic {loss_c.item():.4f} generator {loss_g.item():.4f}")


if __name__ == "__main__":
    main()
