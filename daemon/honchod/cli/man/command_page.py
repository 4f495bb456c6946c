"""honchod(1), made from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from honchod import __version__
from honchod.cli.app import COMMANDS, app
from honchod.cli.exits import Exit
from honchod.cli.man import roff

EXITS = {
    Exit.DONE: "Done.",
    Exit.FAILED: "It failed; a line on stderr says why.",
    Exit.USAGE: "Wrong usage, or a wrong configuration; every fault is named.",
    Exit.NOT_REACHABLE: "No daemon answers; a line on stderr says how to start it.",
    Exit.NOT_ALLOWED: "This user may not do that.",
}
ENVIRONMENT = {
    "HONCHOD_SOCKET": "The daemon's socket.",
    "HONCHOD_CONFIG": "The honchod.toml to read.",
    "HONCHOD_STATE_DIR": "Where the queue is kept.",
    "HONCHOD_HONCHO_CONFIG": "The Honcho configuration to read.",
    "HONCHOD_DROP": "The drop box: where what finds no daemon is kept.",
    "HONCHO_API_KEY, HONCHO_API_URL, HONCHO_BASE_URL, HONCHO_WORKSPACE_ID": (
        "As for Honcho's own SDK: below what the configuration says of a host, above its root."
    ),
}
FILES = {
    "/etc/honchod/honchod.toml, ~/.config/honchod/honchod.toml": "The settings: honchod.toml(5).",
    "/etc/honchod/honcho.json, ~/.honcho/config.json": "Servers, keys, and who is who.",
    "/run/honchod/honchod.sock, $XDG_RUNTIME_DIR/honchod/honchod.sock": "The socket.",
    "/var/lib/honchod, ~/.local/state/honchod": "The queue.",
    "~/.local/state/honchod/drop": "The drop box of a user.",
}


def page() -> str:
    """The page."""
    root = click.Context(app, info_name="honchod")
    lines = [
        roff.title("honchod", 1, f"honchod {__version__}", "honchod"),
        roff.section("NAME"),
        "honchod \\- the memory daemon of one machine",
        roff.section("SYNOPSIS"),
        "\\fBhonchod\\fR [\\fB\\-\\-socket\\fR \\fIPATH\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]",
        roff.section("DESCRIPTION"),
        *roff.prose(app.help or ""),
        roff.section("OPTIONS"),
        *_options(app, root),
        roff.section("COMMANDS"),
        *_commands(app, root),
        roff.section("EXIT STATUS"),
        *(line for code, text in EXITS.items() for line in roff.term(str(int(code)), [roff.paragraph(text)])),
        roff.section("ENVIRONMENT"),
        *_terms(ENVIRONMENT),
        roff.section("FILES"),
        *_terms(FILES),
        roff.section("EXAMPLES"),
        *roff.prose(_examples(app.epilog or "")),
        roff.section("SEE ALSO"),
        "\\fBhonchod.toml\\fR(5)",
    ]
    return "\n".join(lines) + "\n"


def _commands(group: click.Group, parent: click.Context) -> Iterator[str]:
    for name in COMMANDS if group is app else group.list_commands(parent):
        command = group.get_command(parent, name)
        if command is None or command.hidden:
            continue
        ctx = click.Context(command, info_name=name, parent=parent)
        if isinstance(command, click.Group):
            yield roff.subsection(ctx.command_path)
            yield from roff.prose(command.help or "")
            yield from _commands(command, ctx)
            continue
        yield roff.subsection(" ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]))
        yield from roff.prose(command.help or "")
        yield from _options(command, ctx)
        yield from roff.prose(command.epilog or "")


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and "--help" not in record[0] and not _everywhere(parameter, ctx):
            yield from roff.term(record[0], [roff.paragraph(record[1])])


def _everywhere(parameter: click.Parameter, ctx: click.Context) -> bool:
    """Whether every command has it: it is described once, at the top."""
    return ctx.parent is not None and parameter.name == "socket"


def _terms(meanings: dict[str, str]) -> Iterator[str]:
    for name, text in meanings.items():
        yield from roff.term(name, [roff.paragraph(text)])


def _examples(epilog: str) -> str:
    """The examples of an epilog, without their heading and what follows them."""
    block = epilog.split("\n\n")[0]
    lines = block.strip("\n").split("\n")
    return "\n".join(["\b", *(line.strip() for line in lines[2:])])
