"""DQN with a replay memory on a 4x4 grid with a pit and a goal."""
import argparse
import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class Grid:
    size, goal, pit = 4, (3, 3), (1, 2)

    def reset(self):
        self.at = (0, 0)
        return self.encode()

    def encode(self):
        state = np.zeros((self.size, self.size), dtype=np.float32)
        state[self.at] = 1.0
        return state.ravel()

    def step(self, action):
        dr, dc = MOVES[action]
        self.at = (min(max(self.at[0] + dr, 0), 3), min(max(self.at[1] + dc, 0), 3))
        if self.at == self.goal:
            return self.encode(), 1.0, True
        if self.at == self.pit:
            return self.encode(), -1.0, True
        return self.encode(), -0.01, False


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *transition):
        self.memory.append(Transition(*transition))

    def sample(self, batch_size):
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        return (
            torch.from_numpy(np.stack(batch.state)),
            torch.tensor(batch.action),
            torch.tensor(batch.reward, dtype=torch.float32),
            torch.from_numpy(np.stack(batch.next_state)),
            torch.tensor(batch.done, dtype=torch.float32),
        )

    def __len__(self):
        return len(self.memory)


def fill(memory, env, transitions, rng):
    """Random walks before learning starts."""
    state = env.reset()
    for _ in range(transitions):
        action = int(rng.integers(4))
        next_state, reward, done = env.step(action)
        memory.push(state, action, reward, next_state, done)
        state = env.reset() if done else next_state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--sync-every", type=int, default=4)
    args = parser.parse_args()

    torch.manual_seed(0)
    memory = ReplayMemory(500)
    fill(memory, Grid(), 300, np.random.default_rng(0))

    online = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    target = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.RMSprop(online.parameters(), lr=1e-3)
    for update in range(args.updates):
        state, action, reward, next_state, done = memory.sample(args.batch_size)
        with torch.no_grad():
            expected = reward + args.gamma * (1 - done) * target(next_state).max(dim=1).values
        q = online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, expected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (update + 1) % args.sync_every == 0:
            target.load_state_dict(online.state_dict())
        print(f"update {update}: loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
