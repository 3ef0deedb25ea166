"""REINFORCE on a corridor: walk right to the goal, every step costs a little."""
import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=7):
        self.length = length

    def reset(self):
        self.position = self.length // 2
        return self._observe()

    def step(self, action):
        self.position += 1 if action == 1 else -1
        done = self.position in (0, self.length - 1)
        reward = 1.0 if self.position == self.length - 1 else -0.05
        return self._observe(), reward, done

    def _observe(self):
        state = torch.zeros(self.length)
        state[self.position] = 1.0
        return state


class Policy(nn.Module):
    def __init__(self, states, hidden=16, actions=2):
        super().__init__()
        self.body = nn.Linear(states, hidden)
        self.head = nn.Linear(hidden, actions)

    def forward(self, state):
        return Categorical(logits=self.head(torch.tanh(self.body(state))))


def run_episode(env, policy, max_steps=20):
    log_probs, rewards = [], []
    state = env.reset()
    for _ in range(max_steps):
        dist = policy(state)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
        if done:
            break
    return torch.stack(log_probs), rewards


def returns(rewards, gamma):
    total, out = 0.0, []
    for r in reversed(rewards):
        total = r + gamma * total
        out.insert(0, total)
    return torch.tensor(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--gamma", type=float, default=0.99)
    args = parser.parse_args()
    if args.seed:
        torch.manual_seed(args.seed)

    env = Corridor()
    policy = Policy(env.length)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for episode in range(args.episodes):
        log_probs, rewards = run_episode(env, policy)
        loss = -(log_probs * returns(rewards, args.gamma)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"episode {episode:2d}  steps {len(rewards):2d}  return {sum(rewards):+.2f}")


if __name__ == "__main__":
    main()
