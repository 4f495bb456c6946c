"""Keys. Everything that is wrong with one is a 401, as on a self-hosted Honcho."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping

from .errors import Refused

ApiKeys = Mapping[str, str | None]
"""Each key with the workspace it is restricted to; ``None`` for a key that may do everything."""


def check_key(keys: ApiKeys, authorization: str | None, method: str, path: str, body: bytes) -> None:
    """Raise ``Refused`` (401) unless the header's key may make this request. No keys: everybody may."""
    if not keys or not path.startswith("/v3/"):
        return
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Refused(401, "No access token provided")
    known = next((key for key in keys if hmac.compare_digest(key.encode(), token.encode())), None)
    if known is None:
        raise Refused(401, "Invalid JWT")
    workspace = keys[known]
    if workspace is not None:
        _check_workspace(workspace, method, path, body)


def _check_workspace(workspace: str, method: str, path: str, body: bytes) -> None:
    segments = path.split("/")
    if segments[3:4] == ["list"]:
        raise Refused(401, "Resource requires admin privileges")
    if len(segments) > 3:
        if segments[3] != workspace:
            raise Refused(401, "JWT not permissioned for this resource")
    elif method == "POST" and _body_id(body) not in (workspace, None):
        raise Refused(401, "Unauthorized access to resource")


def _body_id(body: bytes) -> str | None:
    try:
        value = json.loads(body)["id"]
    except (ValueError, TypeError, KeyError):
        return None
    return value if isinstance(value, str) else None
