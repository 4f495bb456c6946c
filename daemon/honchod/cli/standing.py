"""Commands that argparse reads, as click sees them: for completion and for the manual page.

They start faster without click, and are dispatched before it is imported (see ``main``).
"""

from __future__ import annotations

import argparse

import click


def as_click(name: str, parser: argparse.ArgumentParser) -> click.Command:
    """A click command with the parser's options, which nobody calls."""
    return click.Command(
        name,
        params=[
            _parameter(action) for action in parser._actions if not isinstance(action, argparse._HelpAction)
        ],
        help=parser.description,
        epilog="\b\n" + (parser.epilog or "").replace("\n\n", "\n\n\b\n"),
    )


def _parameter(action: argparse.Action) -> click.Parameter:
    kind = click.Choice(list(action.choices)) if action.choices is not None else None
    metavar = action.metavar if isinstance(action.metavar, str) else None
    if not action.option_strings:
        return click.Argument([action.dest], required=False, metavar=f"[{metavar or action.dest.upper()}]")
    return click.Option(
        list(action.option_strings),
        type=None if action.nargs == 0 else kind,
        is_flag=action.nargs == 0,
        required=action.required,
        multiple=isinstance(action, argparse._AppendAction),
        metavar=None if action.nargs == 0 or kind is not None else metavar,
        help=action.help,
    )
