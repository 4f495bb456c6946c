/** OpenClaw's hooks and tools, handed to honchod. It keeps, names, redacts, queues and recalls; this does not. */

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

import { registerCommand } from "./command.ts";
import { Daemon, type Settings } from "./daemon.ts";
import { registerTools } from "./tools.ts";
import { isGroup, isKept, saidAfter, senderOf, speakersOf } from "./turn.ts";

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
    /** What runs began with: at their end nobody says it, nor who asked. */
    const begun = new Map<string, { asked: string; isHuman: boolean }>();

    api.on("before_prompt_build", async (event, run) => {
      const { runId, sessionKey: session } = run;
      if (!runId || !isKept(session)) return;
      const asked = event.currentUserMessage ?? event.prompt;
      const { isHuman } = speakersOf(run);
      begun.set(runId, { asked, isHuman });
      if (!isHuman) return;
      const ask = (method: string, path: string, body?: object) =>
        daemon.call<{ text: string }>(method, path, body, settings.waitMs + RECALL_TIMEOUT_MS).then(
          ({ text }) => text,
          () => undefined,
        );
      const names = new URLSearchParams({ host: settings.host, session });
      const memory = ask("POST", "/v1/recall", { session, query: asked, wait_ms: settings.waitMs });
      const block = ask("GET", `/v1/prompt?${names}`);
      const message = { id: `${runId}:user`, role: "user", author: "human", content: asked } as const;
      void daemon.keep({ session, group: isGroup(session), messages: [{ ...message, ...senderOf(run) }] });
      return { prependContext: await memory, appendSystemContext: await block };
    });

    api.on("agent_end", async (event, run) => {
      const { runId, sessionKey: session } = run;
      if (!runId || !isKept(session)) return;
      const { asked = "", isHuman = false } = begun.get(runId) ?? {};
      begun.delete(runId);
      const messages = saidAfter(asked, event.messages).map((spoken, at) =>
        spoken.role === "user"
          ? { ...spoken, ...senderOf(run), id: `${runId}:${at}`, author: "human" as const }
          : { ...spoken, id: `${runId}:${at}`, author: speakersOf(run).answers },
      );
      if (!event.success && messages.at(-1)?.role === "assistant") messages.pop();
      const kept = messages.filter(({ role }) => isHuman || role === "assistant");
      if (kept.length) await daemon.keep({ session, group: isGroup(session), messages: kept, turn_end: isHuman });
    });

    const tell = async (what: "start" | "end" | "reset", session: string | undefined) => {
      if (isKept(session) && speakersOf({ sessionKey: session }).isHuman) await daemon.tell(what, session);
    };
    api.on("session_start", ({ sessionKey }) => tell("start", sessionKey));
    api.on("session_end", async ({ sessionKey, reason = "unknown" }) => {
      if (reason !== "compaction") await tell(RESETS.has(reason) ? "reset" : "end", sessionKey);
    });
    api.on("subagent_ended", async ({ targetSessionKey }) => {
      await daemon.tell("end", targetSessionKey);
    });

    registerTools(api, daemon);
    registerCommand(api, settings);
  },
});
