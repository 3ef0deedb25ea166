"""What checks cost, against other tools on the same files in the same run: `python -m tests.benchmarks`.

Wheels and tools come from the package index, the first time. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.benchmarks.measuring import Cost, median
from tests.benchmarks.peers import PEERS, RUFF, installed
from tests.benchmarks.picture import svg
from tests.benchmarks.trees import TREES, Tree, unpacked

_CHECK = (sys.executable, "-m", "torchlint", "check", "--isolated", "--exit-zero")
_FEW = 20
_COLD = "torchlint, cold, one process"
_EDIT = b"\n# one line more\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--trees", default=",".join(tree.name for tree in TREES), help="[default: %(default)s]")
    parser.add_argument(
        "--rounds", type=int, default=3, help="runs of ruff and torchlint; of others, one [default: %(default)s]"
    )
    parser.add_argument("--without-peers", action="store_true", help="compare with ruff alone")
    parser.add_argument("--picture", type=Path, help="write the figures of the first tree as SVG")
    work = Path(tempfile.gettempdir()) / "torchlint-benchmarks"
    parser.add_argument(
        "--work", type=Path, default=work, help="where wheels and tools are kept [default: %(default)s]"
    )
    options = parser.parse_args(arguments)
    print(f"Python {sys.version}")
    wanted = options.trees.split(",")
    picture = options.picture
    for tree in (one for one in TREES if one.name in wanted):
        folder = unpacked(tree, options.work)
        files = list(folder.rglob("*.py"))
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        print(f"\n{tree.name}: {', '.join(tree.wheels)}, {len(files)} files, {lines:,} lines, {options.rounds} rounds")
        rows = dict(_rows(tree, folder, options.work, options.rounds, is_alone=options.without_peers))
        _print(rows)
        if picture is not None:
            ruff = rows[RUFF.name].cpu
            bars = [(name, cost.cpu / ruff, name.startswith("torchlint")) for name, cost in rows.items()]
            picture.write_text(
                svg(f"CPU time on {tree.wheels[0]}, ruff with all rules = 1 (logarithmic)", bars), encoding="utf-8"
            )
            picture = None
    return 0


def _rows(tree: Tree, folder: Path, work: Path, rounds: int, *, is_alone: bool) -> Iterator[tuple[str, Cost]]:
    """Each command by its name."""
    for peer in PEERS[:1] if is_alone else PEERS:
        environment = installed(peer, work)
        if environment is None:
            print(f"  {peer.name}: cannot be installed here")
            continue
        try:
            yield peer.name, median(rounds if peer is RUFF else 1, peer.on(folder, environment))
        except RuntimeError as error:
            print(f"  {peer.name}: does not run here: {error}")
    yield _COLD, median(rounds, [*_CHECK, "--no-cache", "--jobs", "1", str(folder)])
    yield "torchlint, cold", median(rounds, [*_CHECK, "--no-cache", str(folder)])
    with tempfile.TemporaryDirectory() as cache:
        warm = [*_CHECK, "--cache-dir", cache, "--jobs", "1"]
        edited = folder / tree.edited
        before = edited.read_bytes()

        def edit() -> None:
            edited.write_bytes(edited.read_bytes() + _EDIT)

        try:
            yield "torchlint, nothing changed", median(rounds, [*warm, str(folder)])
            yield "torchlint, one file changed", median(rounds, [*warm, str(folder)], edit)
            yield "torchlint, that file alone", median(rounds, [*warm, str(edited)])
            yield "torchlint, that file changed, alone", median(rounds, [*warm, str(edited)], edit)
        finally:
            edited.write_bytes(before)
    with tempfile.TemporaryDirectory() as few:
        small = sorted(folder.rglob("*.py"), key=lambda path: (path.stat().st_size, path))
        for number, path in enumerate(small[len(small) // 3 :][:_FEW]):
            shutil.copyfile(path, Path(few) / f"part_{number}.py")
        yield f"torchlint, {_FEW} small files, cold", median(rounds, [*_CHECK, "--no-cache", "--jobs", "1", few])


def _print(rows: dict[str, Cost]) -> None:
    ruff, cold = rows[RUFF.name], rows[_COLD]
    print(f"{'':<38} {'CPU s':>8} {'clock s':>8} {'MB':>6} {'CPU/ruff':>9} {'CPU/cold':>9}")
    for name, cost in rows.items():
        ratios = f"{cost.cpu / ruff.cpu:>9.2f} {cost.cpu / cold.cpu:>9.2f}"
        print(f"{name:<38} {cost.cpu:>8.2f} {cost.clock:>8.2f} {cost.memory:>6.0f} {ratios}")


if __name__ == "__main__":
    sys.exit(main())
