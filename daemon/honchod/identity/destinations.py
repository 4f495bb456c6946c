"""Where a host's requests go, and which key goes with them.

The rule: a key goes only to the URL that it was configured with. So a URL and the keys are settled
apart, each by its own order of levels, and a key counts only where the URL it belongs to is the one in use.
A local or self-hosted URL without a key of its own therefore gets none, whatever the environment holds for
the cloud; and a URL that does not answer is never replaced by another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from honchod.identity import urls
from honchod.identity.block import Block, EndpointBlock
from honchod.identity.choices import KeySource
from honchod.identity.host import Destination
from honchod.identity.secret import Secret

KeyReader = Callable[[str], str]
"""Gives the key in the file of that name. Raises ValueError with the reason when it cannot."""


Quote = Callable[[str], str]
"""How a problem shows a value."""


@dataclass(frozen=True, slots=True)
class Address:
    """What one level of the configuration says about the way to Honcho, checked. None: nothing."""

    url: str | None = None
    mcp_url: str | None = None
    key: Secret | None = None
    key_source: KeySource = KeySource.NONE


@dataclass(frozen=True, slots=True)
class AddressKeys:
    """What the keys of an address are called where it was read, for problems."""

    url: str = "baseUrl"
    mcp_url: str = "mcpUrl"
    key: str = "apiKey"
    key_file: str = "api_key_file"

    def under(self, where: str) -> AddressKeys:
        """The same keys inside a block (``hosts.hermes.``)."""
        return AddressKeys(where + self.url, where + self.mcp_url, where + self.key, where + self.key_file)


@dataclass(frozen=True, slots=True)
class Settled:
    """A host's way to Honcho. ``withheld`` names the keys that were not used, and why; never the keys."""

    destination: Destination
    key_source: KeySource
    mcp: Destination | None
    withheld: tuple[str, ...]


def read_address(
    block: Block, *, keys: AddressKeys, inline: KeySource, read_key: KeyReader, problems: list[str]
) -> Address:
    """What the block says, with every fault added to ``problems`` and left out.

    ``inline`` is the source to name for a key that stands in the block itself.
    """

    def checked(name: str, text: str | None, check: Callable[[str], str], quote: Quote = ascii) -> str | None:
        if not text:
            return None
        try:
            return check(text)
        except ValueError as fault:
            problems.append(f"{name} = {quote(text)}: {fault}")
            return None

    source = inline
    key = checked(keys.key, block.api_key, check_key, lambda _: "(not shown)")
    if not block.api_key and block.api_key_file:
        source = KeySource.FILE
        key = checked(keys.key_file, block.api_key_file, lambda path: check_key(read_key(path)))
    return Address(
        url=checked(keys.url, _named_url(block), urls.base_url, urls.quoted),
        mcp_url=checked(keys.mcp_url, block.mcp_url, urls.mcp_url, urls.quoted),
        key=Secret(key) if key else None,
        key_source=source if key else KeySource.NONE,
    )


def check_key(text: str) -> str:
    """The key, if a header can carry it. Raises ValueError, without quoting it, if not."""
    if not text or not text.isascii() or any(char <= " " or char == "\x7f" for char in text):
        raise ValueError("a key is one line of visible ASCII characters, without white space")
    return text


def settle(host: Address, environment: Address, root: Address, credential: Secret | None) -> Settled:
    """The URL by precedence (host, environment, root, the cloud), and the first key that belongs to it.

    The systemd credential is the unit's own: it belongs to the URL of a host that names none itself.
    """
    url = host.url or environment.url or root.url or urls.CLOUD_URL
    file_home = root.url or urls.CLOUD_URL
    host_home = host.url or file_home
    environment_home = environment.url or urls.CLOUD_URL
    keys = (
        (host.key, host.key_source, host_home),
        (environment.key, environment.key_source, environment_home),
        (credential, KeySource.CREDENTIAL, environment.url or file_home),
        (root.key, root.key_source, file_home),
    )
    present = [(key, source, home) for key, source, home in keys if key is not None]
    key, source, _ = next((found for found in present if found[2] == url), (None, KeySource.NONE, url))
    mcp_urls = (
        (host.mcp_url, host_home),
        (environment.mcp_url, environment_home),
        (root.mcp_url, file_home),
        (urls.CLOUD_MCP_URL if url == urls.CLOUD_URL else None, urls.CLOUD_URL),
    )
    mcp_url, mcp_home = next((found for found in mcp_urls if found[0]), (None, url))
    return Settled(
        destination=Destination(url, key),
        key_source=source,
        mcp=Destination(mcp_url, key if mcp_home == url else None) if mcp_url else None,
        withheld=() if key else tuple(_withheld(source, home, url) for _, source, home in present),
    )


def _withheld(source: KeySource, home: str, url: str) -> str:
    return f"the key from {source} belongs to {home} and is not sent to {url}"


def _named_url(block: Block) -> str | None:
    if block.base_url:
        return block.base_url
    if isinstance(block.endpoint, EndpointBlock):
        local = urls.LOCAL_URL if block.endpoint.environment == "local" else None
        return block.endpoint.base_url or local
    return block.endpoint
