"""honchod.toml(5), made from the types that read the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from honchod import __version__
from honchod.cli.man import roff
from honchod.identity.fields import describe, facts_of, keys
from honchod.service.settings_sections import File

DESCRIPTION = """\
The settings of the memory daemon, in TOML. Every key is optional; an unknown key or a value out of its range
is an error, and `honchod run` names all of them at once.

The file is the one that `--config` or `$HONCHOD_CONFIG` names, else `~/.config/honchod/honchod.toml`, else
`/etc/honchod/honchod.toml`. Flags beat the environment, which beats the file. Where nothing names a place,
the usual ones hold: see FILES in honchod(1).

A duration is a number of seconds or a text such as "500ms", "30s", "15m", "1h" or "14d". A size is a number
of bytes or a text such as "64KiB", "1MiB" or "1GiB".

After a change, `honchod reload` (or SIGHUP) reads the file again; a bad file changes nothing.
`state_dir`, `socket` and the sections outbox, limits and http need a restart.
"""

EXAMPLE = """\
honcho_config = "/etc/honchod/honcho.json"

[access]
allow_gids = [1000]

[delivery]
max_age = "30d"

[http]
listen = "127.0.0.1:9747"
"""


def page() -> str:
    """The page."""
    lines = [
        roff.title("honchod.toml", 5, f"honchod {__version__}", "honchod"),
        roff.section("NAME"),
        "honchod.toml \\- settings of the memory daemon",
        roff.section("DESCRIPTION"),
        *roff.prose(DESCRIPTION),
        roff.section("PLACES"),
        *_keys(File),
        *_sections(),
        roff.section("EXAMPLE"),
        *roff.verbatim(EXAMPLE.rstrip("\n").split("\n")),
        roff.section("SEE ALSO"),
        "\\fBhonchod\\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def _sections() -> Iterator[str]:
    for field in keys(File).values():
        if _is_section(field):
            yield roff.section(f"[{field.encode_name}]")
            yield from roff.prose((field.type.__doc__ or "").split("\n\n")[0])
            yield from _keys(field.type)


def _keys(section: type[msgspec.Struct]) -> Iterator[str]:
    for field in keys(section).values():
        if not _is_section(field):
            yield from roff.term(field.encode_name, _meaning(field))


def _meaning(field: msgspec.structs.FieldInfo) -> list[str]:
    kind = inspect.type_info(field.type)
    takes = f"It takes {describe(kind)}."
    return [
        roff.paragraph(_description(kind)),
        ".br",
        roff.paragraph(f"{takes} {_default(field)}"),
    ]


def _description(kind: inspect.Type) -> str:
    """What the key is for. Every key says so."""
    members: Sequence[inspect.Type] = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    for member in members:
        if isinstance(member, inspect.Metadata):
            return str((member.extra_json_schema or {})["description"])
    raise TypeError(f"nothing says what this key is for: {kind}")


def _default(field: msgspec.structs.FieldInfo) -> str:
    value: Any = field.default
    if value is None:
        return "It is not set by default."
    unit = facts_of(field.type).get("unit")
    if unit is not None:
        return f"Default: `{unit.show(value)}`."
    if isinstance(value, bool):
        return f"Default: `{str(value).lower()}`."
    if isinstance(value, str):
        return f'Default: `"{value}"`.'
    if isinstance(value, tuple):
        return "Default: `[]`."
    return f"Default: `{value:g}`." if isinstance(value, float) else f"Default: `{value}`."


def _is_section(field: msgspec.structs.FieldInfo) -> bool:
    return isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
