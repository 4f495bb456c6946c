"""Claude Code's hooks, handed to honchod, which keeps, names, redacts, queues and recalls.

None of them ever fails a prompt: while no daemon answers, what was said is kept in the drop box, and memory
has nothing to say. What goes wrong is told on stderr, which Claude Code shows when it debugs.
"""

from __future__ import annotations

import json
import os
import sys
import zlib

from honchod.client import Client, ClientError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOST = os.environ.get("HONCHOD_HOST", "claude_code")

WRITE_TIMEOUT_S = 5.0
PROMPT_RECALL_S = 0.25
"""A prompt goes on without memory rather than later than this."""

START_RECALL_S = 1.5
"""The first memory of a conversation is worth a wait."""


def message(event: dict[str, Any]) -> dict[str, str] | None:
    """What an event says that somebody said, by an id that it has whenever the hook runs for it."""
    name, prompt_id = event["hook_event_name"], event.get("prompt_id")
    if name == "UserPromptSubmit":
        said = {"id": f"{prompt_id}:user", "role": "user", "content": event["prompt"]}
    else:
        answer = event.get("last_assistant_message") or ""
        said = {"role": "assistant", "content": answer}
        if name == "SubagentStop":
            said |= {"id": f"{event.get('agent_id')}:answer", "author": "subagent"}
        else:
            # A turn that another hook prolongs ends more than once, each time with other words.
            said["id"] = f"{prompt_id}:{zlib.crc32(answer.encode('utf-8', 'surrogatepass')):08x}"
    return said if said["content"] else None


def run(event: dict[str, Any], client: Client) -> str:
    """Do what an event asks for; what is to stand in the conversation."""
    name, session = event["hook_event_name"], event["session_id"]
    if name == "SessionStart":
        wait_ms, timeout_s = int(START_RECALL_S * 1000), START_RECALL_S + PROMPT_RECALL_S
        return client.recall(session=session, host=HOST, recall_wait_ms=wait_ms, timeout_s=timeout_s).text
    if name == "SessionEnd":
        client.end_session(session=session, host=HOST)
        return ""
    said = message(event)
    if said is not None:
        client.write([said], session=session, host=HOST, turn_end=name == "Stop", timeout_s=WRITE_TIMEOUT_S)
    if name != "UserPromptSubmit":
        return ""
    return client.recall(event["prompt"], session=session, host=HOST, timeout_s=PROMPT_RECALL_S).text


def main() -> None:
    """Read one event from stdin, and print what is to stand in the conversation."""
    try:
        with Client(drop=True) as client:
            text = run(json.load(sys.stdin.buffer), client)
    except (ClientError, ValueError, KeyError) as error:
        sys.stderr.write(f"honchod: {type(error).__name__}: {error}\n")
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))


main()
