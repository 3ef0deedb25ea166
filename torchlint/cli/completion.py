"""`torchlint completion`: the shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from torchlint.cli.group import COMPLETE_VARIABLE, root
from torchlint.cli.parameters import Choice

# `\b` keeps the lines below it as they are.
_HELP = """Print the script that lets a shell complete commands and options of torchlint.

Set it up once, then open a new shell:

\b
bash   echo 'eval "$(torchlint completion bash)"' >> ~/.bashrc
zsh    echo 'eval "$(torchlint completion zsh)"' >> ~/.zshrc   (below compinit)
fish   torchlint completion fish > ~/.config/fish/completions/torchlint.fish
"""


@click.command(help=_HELP)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(script(root, {}, "torchlint", COMPLETE_VARIABLE).source())
