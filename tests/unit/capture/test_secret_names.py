from __future__ import annotations

import pytest

from honchod.capture.secret.names import CLUES, NameKind, name_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", NameKind.PASSWORD),
        ("PGPASSWORD", NameKind.PASSWORD),
        ("MYSQL_PWD", NameKind.PASSWORD),
        ("db.password", NameKind.PASSWORD),
        ("DB_PASS", NameKind.PASSWORD),
        ("dbPass", NameKind.PASSWORD),
        ("smtp_pw2", NameKind.PASSWORD),
        ("password_value", NameKind.PASSWORD),
        ("Passwort", NameKind.PASSWORD),
        ("пароль", NameKind.PASSWORD),
        ("pass", NameKind.PASS),
        ("pw", NameKind.PASS),
        ("token", NameKind.TOKEN),
        ("_authToken", NameKind.TOKEN),
        ("Authorization", NameKind.TOKEN),
        ("X-Auth-Token", NameKind.TOKEN),
        ("_auth", NameKind.TOKEN),
        ("apiKey", NameKind.KEY),
        ("APIKey", NameKind.KEY),
        ("X-API-Key", NameKind.KEY),
        ("OPENAI_API_KEY", NameKind.KEY),
        ("aws_secret_access_key", NameKind.KEY),
        ("AccountKey", NameKind.KEY),
        ("client_secret", NameKind.SECRET),
        ("SecretString", NameKind.SECRET),
        ("credentials", NameKind.SECRET),
    ],
)
def test_a_telling_name_promises_a_secret(name: str, kind: NameKind) -> None:
    assert name_kind(name) is kind
    assert any(clue in name.lower() for clue in CLUES)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "tokens",
        "max_tokens",
        "token_count",
        "token_url",
        "eos_token",
        "next_page_token",
        "key",
        "keys",
        "primary_key",
        "session_key",
        "key_id",
        "api_key_file",
        "bypass",
        "compass",
        "passive",
        "author",
        "authority",
        "secretary",
        "password_file",
        "cwd",
        "monkey",
        "value",
    ],
)
def test_an_innocent_name_promises_nothing(name: str) -> None:
    assert name_kind(name) is None
