"""Honcho's own word that it has derived something: the receiver of its webhooks."""

from __future__ import annotations

from typing import Final

import structlog
from aiohttp import web

from honchod.identity.secret import Secret
from honchod.recall import webhook
from honchod.recall.recaller import Recaller

_log = structlog.get_logger("honchod.web")

PATH: Final = "/v1/webhooks/honcho"


class Webhooks:
    """Takes events that are signed with the secret, and passes on what they mean to recall."""

    def __init__(self, secret: Secret, recaller: Recaller) -> None:
        self._secret = secret
        self._recaller = recaller

    async def receive(self, request: web.Request) -> web.StreamResponse:
        """One event: 204, whatever it says, once it is known to be Honcho's; else 401."""
        body = await request.read()
        signature = request.headers.get(webhook.SIGNATURE_HEADER, "")
        if not webhook.verify(signature, body, self._secret.reveal()):
            _log.warning("webhook.refused")
            return web.Response(status=401)
        event = webhook.read(body)
        if event is not None:
            self._recaller.on_webhook(event)
        return web.Response(status=204)
