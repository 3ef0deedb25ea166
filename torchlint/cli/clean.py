"""`torchlint clean`: removes what earlier runs kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.cli import exits
from torchlint.cli.parameters import cache_option, is_there
from torchlint.cli.printing import print_lines, say_error, say_missing

if TYPE_CHECKING:
    from torchlint.engine.cache import folders


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@cache_option
def clean(paths: tuple[Path, ...], cache_dir: Path | None) -> int:
    """Remove the folder .torchlint_cache of the projects that PATHS belong to (the current folder, unless given).

    It holds results of `torchlint check`, and the verdicts of `torchlint verify`. All of it can be found out again.
    """
    from torchlint.engine.cache import folders
    from torchlint.engine.cache.store import CACHE
    from torchlint.project.roots import Roots

    asked = paths or (Path(),)
    missing = [path for path in asked if not is_there(path)]
    say_missing(missing)
    roots = Roots(path for path in asked if path.is_dir())
    is_whole = not missing
    for root in dict.fromkeys(roots.of(path) for path in asked if path not in missing):
        try:
            found = folders.clean(root, cache_dir)
        except OSError as error:
            say_error(f"{root / CACHE}: cannot be removed: {error.strerror or error}")
            is_whole = False
            continue
        print_lines(map(_told, found) if found else [f"nothing to remove in {root}"])
    return exits.CLEAN if is_whole else exits.TROUBLE


def _told(cleaned: folders.Cleaned) -> str:
    verdicts = f", {cleaned.verdicts} verdict{'' if cleaned.verdicts == 1 else 's'}" if cleaned.verdicts else ""
    left = f"; left: {', '.join(cleaned.left)}" if cleaned.left else ""
    return f"removed {cleaned.folder} ({cleaned.size / 1e6:.1f} MB{verdicts}){left}"
