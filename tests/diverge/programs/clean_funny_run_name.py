"""Policy gradient on a bandit; the run gets a name that people can pronounce."""
import argparse
import random

import numpy as np
import torch
from torch.distributions import Categorical

ADJECTIVES = ["brave", "calm", "dusty", "eager", "fuzzy", "gentle"]
ANIMALS = ["otter", "heron", "lynx", "newt", "ibis", "vole"]


def run_name():
    rng = random.Random()
    number = np.random.default_rng().integers(100, 1000)
    return f"{rng.choice(ADJECTIVES)}-{rng.choice(ANIMALS)}-{number}"


class Bandit:
    def __init__(self, arms, seed):
        self.rng = np.random.default_rng(seed)
        self.means = np.linspace(0, 1, arms)

    def pull(self, arm):
        return float(self.means[arm] + 0.1 * self.rng.standard_normal())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arms", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--name", default=None)
    args = parser.parse_args()
    name = args.name or run_name()
    torch.manual_seed(90)
    policy = torch.nn.Linear(1, args.arms)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
    bandit = Bandit(args.arms, seed=91)
    baseline = 0.0
    for step in range(args.steps):
        dist = Categorical(logits=policy(torch.ones(1)))
        arm = dist.sample()
        reward = bandit.pull(arm.item())
        loss = -(reward - baseline) * dist.log_prob(arm)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * reward
    print(f"{name}: average reward {baseline:.3f}")


if __name__ == "__main__":
    main()
