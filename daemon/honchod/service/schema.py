"""The JSON schemas of both configuration files, generated from the types that read them.

``python -m honchod.service.schema DIRECTORY`` writes them. A test holds ``deploy/schema`` to them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from honchod.identity.block import SPELLINGS, Block
from honchod.identity.fields import facts_of, keys
from honchod.service.settings_sections import File

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
SETTINGS_FILE: Final = "honchod.schema.json"
HOSTS_FILE: Final = "honcho.schema.json"

_REF: Final = "#/$defs/{name}"
Schema = dict[str, Any]


def settings_schema() -> Schema:
    """The schema of ``honchod.toml``, as the JSON that its TOML stands for. Unknown keys are errors."""
    definitions = _definitions(File, _without_null)
    for definition in definitions.values():
        definition["additionalProperties"] = False
    return _document("honchod.toml", "The settings of the daemon. Every key is optional.", definitions, File)


def hosts_schema() -> Schema:
    """The schema of the Honcho config file. Keys that are not the daemon's own are let through."""
    definitions = _definitions(Block, _or_null)
    block = definitions["Block"]
    for name, spellings in SPELLINGS.items():
        field = keys(Block)[name]
        for spelling in spellings:
            block["properties"][spelling] = block["properties"][field.encode_name]
    document = _document(
        "Honcho configuration",
        "Who is who: the keys of every host at the root, those of one host in its block.",
        definitions,
        Block,
    )
    document["properties"] = {
        "hosts": {"type": ["object", "null"], "additionalProperties": {"$ref": _REF.format(name="Block")}}
    }
    return document


def write(directory: Path) -> None:
    """Write both schemas into the directory, made when missing."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, schema in ((SETTINGS_FILE, settings_schema()), (HOSTS_FILE, hosts_schema())):
        (directory / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _document(title: str, text: str, definitions: Schema, root: type[msgspec.Struct]) -> Schema:
    return {
        "$schema": DIALECT,
        "title": title,
        "description": text,
        "$ref": _REF.format(name=root.__name__),
        "$defs": definitions,
    }


def _definitions(root: type[msgspec.Struct], settle_null: Callable[[Schema], Schema]) -> Schema:
    """The definitions of a table and of every table in it, with what msgspec does not know of.

    ``settle_null`` says what null means in the file: TOML has none, in JSON a key that is null is absent.
    """
    _, definitions = msgspec.json.schema_components([root], ref_template=_REF)
    for kind in _structs(inspect.type_info(root)):
        properties = definitions[kind.__name__]["properties"]
        for field in keys(kind).values():
            schema = properties[field.encode_name]
            unit = facts_of(field.type).get("unit")
            if unit is not None:
                # A number may be written with its unit; the range is checked once it is read.
                default = {"default": schema.pop("default")} if "default" in schema else {}
                text = {"type": "string", "pattern": unit.pattern, "description": unit.noun}
                schema = {"anyOf": [schema, text], **default}
            properties[field.encode_name] = settle_null(schema)
    return dict(sorted(definitions.items()))


def _structs(kind: inspect.Type) -> Iterator[type[msgspec.Struct]]:
    """The struct types in a type, itself included."""
    match kind:
        case inspect.StructType():
            yield kind.cls
            for field in kind.fields:
                yield from _structs(field.type)
        case inspect.UnionType():
            for member in kind.types:
                yield from _structs(member)
        case inspect.Metadata():
            yield from _structs(kind.type)


def _or_null(schema: Schema) -> Schema:
    return _with_choices(schema, [*_choices(schema), {"type": "null"}])


def _without_null(schema: Schema) -> Schema:
    return _with_choices(schema, _choices(schema))


def _choices(schema: Schema) -> list[Schema]:
    """What a value may be, null aside."""
    facts = {name: fact for name, fact in schema.items() if name != "default"}
    return [choice for choice in facts.get("anyOf", [facts]) if choice != {"type": "null"}]


def _with_choices(schema: Schema, choices: list[Schema]) -> Schema:
    """The schema with these choices. A default of null says nothing, and of a table each key has its own."""
    value = schema.get("default")
    default = {} if value is None or isinstance(value, dict) else {"default": value}
    return {**(choices[0] if len(choices) == 1 else {"anyOf": choices}), **default}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
