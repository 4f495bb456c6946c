"""``honchod completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

COMPLETE_VARIABLE = "_HONCHOD_COMPLETE"
"""Where the script asks the command what may follow; click looks for it under this name."""

EPILOG = """\b
examples:
  honchod completion bash > /usr/share/bash-completion/completions/honchod
  honchod completion zsh > ~/.zfunc/_honchod
  honchod completion fish > ~/.config/fish/completions/honchod.fish
"""


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from honchod.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "honchod", COMPLETE_VARIABLE).source())
