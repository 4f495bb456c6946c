/** OpenClaw's hooks and tools, handed to honchod. It keeps, names, redacts, queues and recalls; this does not. */

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

import { registerCommand } from "./command.ts";
import { Daemon, type Settings } from "./daemon.ts";
import { registerTools } from "./tools.ts";
import { authorsOf, endOf, isGroup, isKept, isPersonal, senderOf } from "./turn.ts";

/** A prompt is built without memory rather than later than this. */
const RECALL_TIMEOUT_MS = 250;
/** After these a session's key stands for another conversation. */
const RESETS = new Set(["new", "reset", "idle", "daily", "deleted"]);

export default definePluginEntry({
  id: "honchod",
  name: "honchod",
  description: "Long-term memory in Honcho, kept and recalled by the daemon of this machine.",
  register(api) {
    const settings: Settings = { host: "openclaw", command: "honchod", waitMs: 0, ...api.pluginConfig };
    const daemon = new Daemon(settings, (line) => api.logger.warn(line));
    /** What was asked last, by session: the end of a run is told all messages of the session. */
    const asked = new Map<string, string>();

    api.on("before_prompt_build", async (event, run) => {
      if (!isKept(run)) return;
      const session = run.sessionKey;
      const content = event.currentUserMessage ?? event.prompt;
      const author = authorsOf(run).asks;
      asked.set(session, content);
      const message = { id: `${run.runId}:user`, role: "user", author, content, ...senderOf(run) } as const;
      void daemon.keep({ session, messages: [message], turn_end: false, group: isGroup(session) });
      if (author !== "human") return;
      const wait_ms = settings.waitMs;
      const timeoutMs = wait_ms + RECALL_TIMEOUT_MS;
      const at = `?host=${encodeURIComponent(settings.host)}&session=${encodeURIComponent(session)}`;
      const [memory, block] = await Promise.allSettled([
        daemon.call<{ text: string }>("POST", "/v1/recall", { session, query: content, wait_ms }, timeoutMs),
        daemon.call<{ text: string }>("GET", `/v1/prompt${at}`, undefined, timeoutMs),
      ]);
      return {
        ...(memory.status === "fulfilled" && { prependContext: memory.value.text }),
        ...(block.status === "fulfilled" && { appendSystemContext: block.value.text }),
      };
    });

    api.on("agent_end", async (event, run) => {
      if (!isKept(run)) return;
      const session = run.sessionKey;
      const { asks, answers } = authorsOf(run);
      const { added, answer } = endOf(event.messages, asked.get(session) ?? "");
      asked.delete(session);
      const id = (what: string) => `${run.runId}:${what}`;
      const messages = [
        ...added.map((content, index) => ({
          ...{ id: id(`user:${index + 1}`), role: "user", author: asks, content, ...senderOf(run) } as const,
        })),
        ...(event.success && answer
          ? [{ id: id("assistant"), role: "assistant", author: answers, content: answer } as const]
          : []),
      ];
      if (!messages.length) return;
      await daemon.keep({ session, messages, turn_end: asks === "human", group: isGroup(session) });
    });

    api.on("session_start", ({ sessionKey }) => {
      if (sessionKey && isPersonal(sessionKey)) return daemon.tell("start", sessionKey);
    });
    api.on("session_end", ({ sessionKey, reason = "unknown" }) => {
      if (!sessionKey || !isPersonal(sessionKey) || reason === "compaction") return;
      return daemon.tell(RESETS.has(reason) ? "reset" : "end", sessionKey);
    });
    api.on("subagent_ended", ({ targetSessionKey }) => daemon.tell("end", targetSessionKey));

    registerTools(api, daemon);
    registerCommand(api, settings);
  },
});
