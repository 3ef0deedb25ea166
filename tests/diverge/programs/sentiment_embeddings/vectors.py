"""Word vectors: known words from the table, all others drawn at the table's scale (as GloVe users do)."""
import numpy as np

KNOWN = {
    "good": [0.9, 0.1, 0.3, 0.0],
    "bad": [-0.8, 0.2, 0.1, 0.1],
    "film": [0.0, 0.7, -0.2, 0.4],
    "plot": [0.1, 0.6, -0.3, 0.3],
    "great": [1.0, 0.0, 0.4, -0.1],
    "boring": [-0.9, 0.1, 0.0, 0.2],
}


def embedding_matrix(vocab, dim=4):
    table = np.array(list(KNOWN.values()), dtype=np.float32)
    matrix = np.random.normal(0.0, table.std(), (len(vocab), dim)).astype(np.float32)
    for i, word in enumerate(vocab):
        if word in KNOWN:
            matrix[i] = KNOWN[word]
    return matrix
