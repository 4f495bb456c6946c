"""What Agent Zero keeps secret."""

from __future__ import annotations

from typing import Any

from helpers.extension import ROOT


class SecretsManager:
    """The values of ``usr/secrets.env``."""

    def mask_values(self, text: str, placeholder: str = "§§secret({key})") -> str:
        """The text with a placeholder for every secret value."""
        file = ROOT / "usr" / "secrets.env"
        for line in file.read_text().splitlines() if file.exists() else ():
            key, _, value = line.partition("=")
            text = text.replace(value.strip('"'), placeholder.format(key=key))
        return text


def get_secrets_manager(context: Any = None) -> SecretsManager:
    """The secrets of a chat."""
    return SecretsManager()
