"""The token file: made once, readable by its owner only, handed out once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from honchod.errors import StartRefused
from honchod.web.token import TokenFile

TOKEN = "a-token-that-somebody-chose"


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_missing_file_is_made_for_its_owner_only(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        made = TokenFile.open(tmp_path / "token")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert len(made.token.reveal()) >= 43
    assert made.path.read_text().strip() == made.token.reveal()


def test_a_token_survives_a_restart(tmp_path: Path) -> None:
    first = TokenFile.open(tmp_path / "token")
    assert TokenFile.open(tmp_path / "token").token == first.token


def test_a_token_that_was_made_is_handed_out_once_even_over_a_restart(tmp_path: Path) -> None:
    made = TokenFile.open(tmp_path / "token")
    again = TokenFile.open(tmp_path / "token")
    assert again.first_look() == made.token
    assert again.first_look() is None
    assert TokenFile.open(tmp_path / "token").first_look() is None


def test_a_token_that_somebody_chose_is_not_handed_out(tmp_path: Path) -> None:
    chosen = TokenFile.open(written(tmp_path / "token", f"  {TOKEN}\n"))
    assert chosen.first_look() is None
    assert chosen.fits(TOKEN)


@pytest.mark.parametrize("given", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é" * 20, "\ud800"])
def test_another_token_does_not_fit(tmp_path: Path, given: str) -> None:
    assert not TokenFile.open(written(tmp_path / "token", TOKEN)).fits(given)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o620, 0o602, 0o601])
def test_a_file_that_is_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / "token", TOKEN, mode)
    with pytest.raises(StartRefused, match=f"chmod 600 {path}") as refusal:
        TokenFile.open(path)
    assert TOKEN not in str(refusal.value)


def test_a_systemd_credential_may_show_a_group(tmp_path: Path) -> None:
    assert TokenFile.open(written(tmp_path / "token", TOKEN, 0o440)).fits(TOKEN)


@pytest.mark.parametrize("text", ["", "short", "x" * 5000, "a token with\x07a bell in it", "é" * 30])
def test_a_file_without_a_good_token_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(StartRefused, match="holds no secret"):
        TokenFile.open(written(tmp_path / "token", text))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"cannot be used|is no file"):
        TokenFile.open(tmp_path)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(StartRefused, match="is no file"):
        TokenFile.open(tmp_path / "pipe")


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match="No such file or directory"):
        TokenFile.open(tmp_path / "missing" / "token")
