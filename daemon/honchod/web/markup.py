"""HTML as values: text is escaped wherever it stands, so a page cannot be made without escaping."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Final, TypeAlias

_VOID: Final = frozenset({"br", "col", "img", "input", "link", "meta"})


class Markup(str):
    """HTML that ``el`` made. Everything else is text."""

    __slots__ = ()


Node: TypeAlias = "str | int | Iterable[Node] | None"
"""What may stand in an element: text, a number, Markup, nothing, or several of them."""

Attribute: TypeAlias = "str | int | float | bool | None"


def el(tag: str, *children: Node, **attributes: Attribute) -> Markup:
    """An element. ``class_`` stands for ``class``, ``aria_label`` for ``aria-label``.

    An attribute that is None or False is left out; True gives one without a value.
    """
    opening = f"<{tag}{''.join(map(_attribute, attributes, attributes.values()))}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{fragment(*children)}</{tag}>")


def fragment(*children: Node) -> Markup:
    """Several nodes one after the other."""
    return Markup("".join(map(_node, children)))


def document(*children: Node) -> str:
    """A whole page."""
    return f"<!doctype html>\n{fragment(*children)}\n"


def name(text: str) -> Markup:
    """A name that somebody else chose: what cannot be seen is spelled out, and it turns no text around it."""
    shown = text if text.isprintable() else "".join(map(_visible, text))
    return el("bdi", shown)


def _visible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def _node(node: Node) -> str:
    if isinstance(node, Markup):
        return node
    if isinstance(node, str):
        return html.escape(node)
    if isinstance(node, int):
        return str(node)
    return "" if node is None else fragment(*node)


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{html.escape(str(value))}"'
