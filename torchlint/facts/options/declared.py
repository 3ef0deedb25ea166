"""Options of the command line, as `argparse` declares them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.facts.values import Constant, argument_of

if TYPE_CHECKING:
    from torchlint.facts.file import FileFacts


def option_defaults(facts: FileFacts, attribute: str) -> tuple[Constant, ...]:
    """What `args.attribute` is when nobody gives the option; empty where the file declares none of that name."""
    return facts.once(_defaults).get(attribute, ())


def _defaults(facts: FileFacts) -> dict[str, tuple[Constant, ...]]:
    found: dict[str, tuple[Constant, ...]] = {}
    for site in facts.reading.calls:
        if not isinstance(site.node.func, ast.Attribute) or site.node.func.attr != "add_argument":
            continue
        flags = [a.value for a in site.node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        long = next((flag for flag in flags if flag.startswith("--")), None)
        default = argument_of(site.node, "default", None)
        if long is not None and default is not None:
            found[long.removeprefix("--").replace("-", "_")] = facts.value(default, site.scope).constants
    return found
