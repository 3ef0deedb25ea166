"""Where a finding about a program stands: on the line of its own file that is to be changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from torchlint.facts.call_edges import Edge
from torchlint.facts.places import Place
from torchlint.project.call_graph import Symbol
from torchlint.project.index import Project
from torchlint.project.programs import Program


def first_statement(program: Program, symbols: Collection[Symbol], project: Project) -> Place:
    """The first statement of the one function of its file that runs all these symbols; else where a program starts.

    A script starts with the first call that leads to one of them.
    """
    path, symbol, calls = program.path, program.entry.symbol, project.programs.calls
    bodies = dict(project.summaries[path].bodies)
    if symbol in bodies:
        return bodies[symbol]
    for edge in _calls(program, symbol, project):
        callee_path, _, name = edge.callee.partition("::")
        if callee_path == path and name in bodies and calls.run([(path, name)]).issuperset(symbols):
            return bodies[name]
        if not symbol and edge.place is not None and not calls.entered_by(edge).isdisjoint(symbols):
            return edge.place
    return program.entry.place


def place_leading_to(target: Symbol, place: Place, program: Program, project: Project) -> Place:
    """`place`, which stands in `target`, if that is in the program's own file; else the own call that leads there."""
    if target[0] == program.path:
        return place
    for symbol in sorted(symbol for path, symbol in program.reached if path == program.path):
        for edge in _calls(program, symbol, project):
            if not edge.callee.startswith(f"{program.path}::") and target in project.programs.calls.entered_by(edge):
                assert edge.place is not None
                return edge.place
    return first_statement(program, [target], project)


def place_of_call(path: str, edge: Edge, program: Program, project: Project) -> Place:
    """Where a call of a file stands, if that is the program's own; else where the program begins what leads there."""
    if path == program.path and edge.place is not None:
        return edge.place
    return first_statement(program, [(path, edge.symbol)], project)


def _calls(program: Program, symbol: str, project: Project) -> Iterator[Edge]:
    """The placed calls of project code in a symbol of the program's file, in source order."""
    edges = project.programs.calls.edges_from((program.path, symbol))
    placed = [(edge.place.location, edge) for edge in edges if edge.place is not None and not edge.is_reference]
    yield from (edge for _, edge in sorted(placed, key=lambda pair: pair[0]))
