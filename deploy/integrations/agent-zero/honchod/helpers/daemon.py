"""The daemon as one Agent Zero chat uses it: which session, with which settings, and who said what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from helpers import plugins, projects
from helpers.print_style import PrintStyle
from helpers.secrets import get_secrets_manager
from honchod.client import Client, ClientError

if TYPE_CHECKING:
    from agent import AgentContext

PLUGIN = "honchod"
CONVERSATION = "honchod_conversation"
"""Where in a chat's data the number of its conversation stands: it is saved with the chat."""

QUERY = "_honchod_query"
"""Where in the agent's data the words stand that memory is to be recalled for."""

ANSWER_S = 2.0
"""How long a chat waits for a daemon that is there and does not answer."""

_ALIAS = "§§secret("


@dataclass(frozen=True)
class Chat:
    """One chat. It goes on whatever fails in here; only the tool lets the model see a failure."""

    context: AgentContext
    host: str
    client: Client
    captures: bool
    recalls: bool

    @property
    def session(self) -> str:
        """The chat's id. A chat goes on under it after a reset, so its conversations are counted."""
        number = self.context.get_data(CONVERSATION) or 1
        return f"chat-{self.context.id}" if number == 1 else f"chat-{self.context.id}#{number}"

    def begin_anew(self) -> None:
        """The chat was reset: what follows is another conversation."""
        self.context.set_data(CONVERSATION, (self.context.get_data(CONVERSATION) or 1) + 1)

    def write(self, role: str, author: str, text: str, message_id: str = "") -> None:
        """Hand over one message. What Agent Zero itself knows as a secret goes no further than here.

        Where masking fails nothing is handed over.
        """
        if not self.captures or not text.strip():
            return
        message = {"role": role, "author": author}
        if message_id:
            message["id"] = message_id
        try:
            message["content"] = self._masked(text)
            self.client.write([message], **self._where(), host=self.host, turn_end=author == "assistant")
        except Exception as error:
            PrintStyle.warning(f"honchod: a message was not handed over: {_told(error)}")

    def recall(self, text: str) -> str:
        """Memory for the prompt, as the daemon has it at hand; empty where there is none."""
        try:
            return self.client.recall(self._masked(text), **self._where(), host=self.host).text
        except Exception as error:
            PrintStyle.warning(f"honchod: no memory for this turn: {_told(error)}")
            return ""

    def use_tool(self, arguments: Mapping[str, Any]) -> str:
        """Run the memory tool; what it says is for the model."""
        answer = self.client.tool("honcho_memory", arguments, **self._where(), host=self.host)
        return str(answer["text"])

    def _where(self) -> dict[str, Any]:
        """The session, and the project's folder: the host's strategy makes a scope of it."""
        project = projects.get_context_project_name(self.context)
        locator = {"cwd": projects.get_project_folder(project)} if project else None
        return {"session": self.session, "locator": locator}

    def _masked(self, text: str) -> str:
        masked = get_secrets_manager(self.context).mask_values(text, placeholder="[secret {key}]")
        return masked.replace(_ALIAS, "[secret](")


def chat_of(context: AgentContext) -> Chat:
    """The chat of a context, with the plugin's settings for it."""
    agent = getattr(context, "agent0", None)
    settings = plugins.get_plugin_config(PLUGIN, agent=agent) or {}
    return Chat(
        context=context,
        host=settings.get("host") or "agent-zero",
        client=_client(settings.get("socket") or None),
        captures=settings.get("capture", True) is True,
        recalls=settings.get("recall", True) is True,
    )


@lru_cache(maxsize=8)
def _client(socket: str | None) -> Client:
    return Client(socket, timeout_s=ANSWER_S, drop=True)


def _told(error: Exception) -> str:
    """What may be said of a failure: the client's own errors hold nothing that was said."""
    return str(error) if isinstance(error, ClientError) else type(error).__name__
