"""The arguments of the commands that shell hooks call. Standard library only.

argparse takes as long to import and to be told of the options as such a command takes for the rest. So usual
arguments are read here; all others, a mistake or ``--help``, are left to a parser that is made from the same
table and has the last word.
"""

from __future__ import annotations

from honchod.client.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")


class Option(NamedTuple):
    """One option, ``--like-this``. It is a flag unless it has a ``metavar`` or ``choices``.

    ``read`` makes its value of what was given; it raises ValueError, or what ``unfit`` makes.
    """

    name: str
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    required: bool = False
    read: Callable[[str], object] = str

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.metavar is None and self.choices is None

    @property
    def field(self) -> str:
        """The attribute that gets the value."""
        return self.name.removeprefix("--").replace("-", "_")


HOST = Option("--host", "the host block of the Honcho configuration (default: default)", metavar="H")
JSON = Option("--json", "print the daemon's answer as JSON")
SOCKET = Option("--socket", "the daemon's socket", metavar="PATH")


class Arguments(NamedTuple):
    """What a command takes: options, and at most one text between them, the ``operand``."""

    program: str
    description: str
    epilog: str
    operand: str
    operand_help: str
    options: tuple[Option, ...]
    width: int | None = None
    """Of its help; by default the terminal's."""


def parse(taken: Arguments, words: Sequence[str], into: T) -> T:
    """Set what the ``words`` of a command line say as attributes of ``into``, which has the defaults.

    Prints help or what is wrong, and raises SystemExit, as argparse does.
    """
    usual = read_usual(taken, words)
    if usual is None:
        return make_parser(taken).parse_args(words, into)
    vars(into).update(usual)
    return into


def read_usual(taken: Arguments, words: Sequence[str]) -> dict[str, object] | None:
    """The values of what the words give, by field; None for words that argparse has to look at."""
    options = {option.name: option for option in taken.options}
    values: dict[str, object] = {}
    rest = iter(words)
    for argument in rest:
        if not argument.startswith("-") or argument == "-":
            if taken.operand in values:
                return None
            values[taken.operand] = argument
            continue
        name, equals, text = argument.partition("=")
        option = options.get(name)
        if option is None or (option.is_flag and equals):
            return None
        if option.is_flag:
            values[option.field] = True
            continue
        if not equals:
            text = next(rest, "-")
        # Whether what begins with a dash is a value, and which, is for argparse to say.
        if text.startswith("-"):
            return None
        try:
            value = option.read(text)
        except Exception:
            return None
        if option.choices is not None and value not in option.choices:
            return None
        values[option.field] = value
    if any(option.required and option.field not in values for option in taken.options):
        return None
    return values


def make_parser(taken: Arguments) -> argparse.ArgumentParser:
    """The whole parser."""
    import argparse
    from functools import partial

    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog=taken.program,
        description=taken.description,
        epilog=taken.epilog,
        formatter_class=shape if taken.width is None else partial(shape, width=taken.width),
        allow_abbrev=False,
    )
    parser.add_argument(taken.operand, nargs="?", help=taken.operand_help)
    for option in taken.options:
        if option.is_flag:
            parser.add_argument(option.name, action="store_true", help=option.help)
        else:
            parser.add_argument(
                option.name,
                metavar=option.metavar,
                choices=option.choices,
                required=option.required,
                type=option.read,
                help=option.help,
            )
    return parser


def unfit(message: str) -> Exception:
    """What a ``read`` raises for a value that may not be; the message is for the user."""
    from argparse import ArgumentTypeError

    return ArgumentTypeError(message)
