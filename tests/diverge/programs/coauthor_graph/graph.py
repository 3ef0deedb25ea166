"""A coauthor graph read from paper records."""
from itertools import combinations

PAPERS = [
    ("vision", ["Ito", "Brandt", "Okafor"]),
    ("vision", ["Ito", "Silva"]),
    ("vision", ["Brandt", "Silva", "Meyer"]),
    ("language", ["Haddad", "Novak"]),
    ("language", ["Haddad", "Petrov", "Lind"]),
    ("language", ["Novak", "Lind"]),
    ("robotics", ["Kim", "Rossi", "Meyer"]),
    ("robotics", ["Kim", "Abebe"]),
    ("robotics", ["Rossi", "Abebe", "Okafor"]),
]


def read_graph(papers=PAPERS):
    """Authors, their field (that of their first paper), and the undirected edges between them."""
    field, edges = {}, set()
    for topic, names in papers:
        for name in names:
            field.setdefault(name, topic)
        edges.update(combinations(sorted(names), 2))
    authors = list(field)
    number = {name: i for i, name in enumerate(authors)}
    pairs = [(number[a], number[b]) for a, b in edges]
    pairs += [(b, a) for a, b in pairs]
    topics = sorted(set(field.values()))
    return authors, [topics.index(field[name]) for name in authors], pairs
