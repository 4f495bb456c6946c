"""The web page."""

from __future__ import annotations

from honchod.api.route import Answer, Call, Nothing
from honchod.ops.views import UiRequest


async def find_page(call: Call[UiRequest, Nothing]) -> Answer:
    """Tell where the web page is, and its token the first time after it was made."""
    return Answer.of(call.backend.ui(show_token=call.body.show_token))
