"""Topic classification with averaged embeddings."""
import argparse
from collections import Counter

import torch
from torch import nn

DOCUMENTS = [
    ("sport", "the keeper saved the penalty in the last minute of the match"),
    ("sport", "she won the race by a second and broke the national record"),
    ("sport", "the coach praised the young team after a hard match"),
    ("science", "the telescope saw light from a galaxy older than the sun"),
    ("science", "researchers measured the mass of the particle in the new detector"),
    ("science", "the probe sent pictures of the moon back to the observatory"),
    ("cooking", "stir the onions in butter until they are soft and golden"),
    ("cooking", "let the dough rest for an hour before you bake the bread"),
    ("cooking", "season the soup with salt pepper and a little lemon"),
]
STOPWORDS = {"the", "a", "of", "in", "and", "by", "for"}


class Vocabulary:
    def __init__(self, documents, min_count=1):
        counts = Counter(word for document in documents for word in document.split())
        words = set(counts) - STOPWORDS
        self.index = {"<pad>": 0, "<unk>": 1}
        for word in words:
            if counts[word] >= min_count:
                self.index[word] = len(self.index)

    def __len__(self):
        return len(self.index)

    def encode(self, document, length=12):
        ids = [self.index.get(word, 1) for word in document.split() if word not in STOPWORDS][:length]
        return ids + [0] * (length - len(ids))


class Averaged(nn.Module):
    def __init__(self, vocab_size, classes, dim=12):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.classifier = nn.Linear(dim, classes)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(2)
        summed = (self.embedding(ids) * mask).sum(dim=1)
        return self.classifier(summed / mask.sum(dim=1).clamp(min=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--min-count", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(12)
    texts = [text for _, text in DOCUMENTS]
    topics = sorted({topic for topic, _ in DOCUMENTS})
    vocab = Vocabulary(texts, args.min_count)
    model = Averaged(len(vocab), len(topics))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    ids = torch.tensor([vocab.encode(text) for text in texts])
    labels = torch.tensor([topics.index(topic) for topic, _ in DOCUMENTS])
    for epoch in range(args.epochs):
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(vocab)} words, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
