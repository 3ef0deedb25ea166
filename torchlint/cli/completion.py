"""`torchlint completion`: the shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from torchlint.cli.group import COMPLETE_VARIABLE, root


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash:  eval "$(torchlint completion bash)"           in ~/.bashrc
    zsh:   eval "$(torchlint completion zsh)"            in ~/.zshrc
    fish:  torchlint completion fish > ~/.config/fish/completions/torchlint.fish
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(script(root, {}, "torchlint", COMPLETE_VARIABLE).source())
