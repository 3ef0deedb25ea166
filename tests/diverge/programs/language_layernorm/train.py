"""Next-token prediction on counting sequences."""
import argparse
import math

import torch
from torch import nn
from transformer import LanguageModel


def batches(count, batch, context, vocab):
    g = torch.Generator().manual_seed(1)
    for _ in range(count):
        start = torch.randint(vocab, (batch, 1), generator=g)
        stride = torch.randint(1, 5, (batch, 1), generator=g)
        sequence = (start + stride * torch.arange(context + 1)) % vocab
        yield sequence[:, :-1], sequence[:, 1:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--context", type=int, default=16)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=20)
    args = parser.parse_args()

    torch.manual_seed(1)
    model = LanguageModel(args.vocab, args.context)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 0.5 * (1 + math.cos(math.pi * s / args.steps)))
    for step, (ids, following) in enumerate(batches(args.steps, args.batch, args.context, args.vocab)):
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        print(f"step {step}: loss {loss.item():.4f} perplexity {math.exp(loss.item()):.2f}")


if __name__ == "__main__":
    main()
