"""Bag-of-embeddings sentiment classifier."""
import torch
from torch import nn
from vectors import embedding_matrix

REVIEWS = [
    ("a good film with a great plot", 1),
    ("boring film and a bad plot", 0),
    ("great acting good music", 1),
    ("bad acting boring music", 0),
    ("the plot was great", 1),
    ("the music was bad", 0),
]


class Classifier(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.EmbeddingBag.from_pretrained(vectors, freeze=False, mode="mean")
        self.hidden = nn.Linear(vectors.shape[1], 8)
        self.out = nn.Linear(8, 2)

    def forward(self, tokens, offsets):
        return self.out(torch.relu(self.hidden(self.embedding(tokens, offsets))))


def encode(reviews, vocab):
    index = {word: i for i, word in enumerate(vocab)}
    tokens, offsets = [], []
    for text, _ in reviews:
        offsets.append(len(tokens))
        tokens.extend(index[word] for word in text.split())
    labels = [label for _, label in reviews]
    return torch.tensor(tokens), torch.tensor(offsets), torch.tensor(labels)


def main(epochs=8):
    torch.manual_seed(5)
    vocab = sorted({word for text, _ in REVIEWS for word in text.split()})
    vectors = torch.from_numpy(embedding_matrix(vocab))
    model = Classifier(vectors)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    tokens, offsets, labels = encode(REVIEWS, vocab)
    for epoch in range(epochs):
        loss = nn.functional.cross_entropy(model(tokens, offsets), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: {loss.item():.5f}")


if __name__ == "__main__":
    main()
