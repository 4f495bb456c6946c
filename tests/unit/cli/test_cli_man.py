"""The manual pages in ``deploy/man`` are the code's, say all of it, and are well-formed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from honchod.cli.app import COMMANDS
from honchod.cli.man import roff
from honchod.cli.man.__main__ import PAGES
from honchod.identity.fields import keys
from honchod.service.settings_sections import File

MAN = Path(__file__).parents[3] / "deploy" / "man"


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_in_deploy_are_those_of_this_code(name: str) -> None:
    """When this fails: python -m honchod.cli.man deploy/man."""
    assert (MAN / name).read_text() == PAGES[name]()


def test_every_command_has_its_place() -> None:
    page = PAGES["honchod.1"]()
    for name in COMMANDS:
        assert f'.SS "honchod {roff.escape(name)}' in page, name
    for option in ("--turn-end", "--offline", "--tokens"):
        assert roff.escape(option) in page


def test_every_key_has_its_place_and_its_default() -> None:
    page = PAGES["honchod.toml.5"]()
    for section in keys(File).values():
        if hasattr(section.type, "__struct_fields__"):
            assert f'.SH "[{section.encode_name}]"' in page
            for key in keys(section.type).values():
                assert f"\\fB{roff.escape(key.encode_name)}\\fR" in page, key.encode_name
    for default in ("14d", "1GiB", "1h"):
        assert f"Default: \\fB{default}\\fR." in page


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is absent")
@pytest.mark.parametrize("name", PAGES)
def test_roff_finds_no_fault(name: str) -> None:
    judged = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-Tutf8", MAN / name], capture_output=True, text=True, check=False
    )
    assert (judged.returncode, judged.stderr) == (0, "")


def test_text_that_roff_would_take_for_a_request_is_kept() -> None:
    assert roff.escape(".TH \\ a-b …") == "\\&.TH \\e a\\-b \\[u2026]"
    assert roff.prose("one\ntwo\n\n\b\nthree\n  four") == [
        ".PP",
        "one two",
        *(".PP", ".RS 4", ".nf", "three", "  four", ".fi", ".RE"),
    ]
