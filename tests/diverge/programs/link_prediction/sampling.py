import random


class NegativeSampler:
    """Pairs of nodes that no edge joins."""

    def __init__(self, edges, nodes, rng=None):
        self.present = {frozenset(edge) for edge in edges}
        self.nodes = nodes
        self.rng = rng or random.Random()

    def sample(self, count):
        pairs = []
        while len(pairs) < count:
            a, b = self.rng.randrange(self.nodes), self.rng.randrange(self.nodes)
            if a != b and frozenset((a, b)) not in self.present:
                pairs.append((a, b))
        return pairs
