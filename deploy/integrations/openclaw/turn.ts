/** Who speaks in a run of OpenClaw, where, and what was said. No I/O. */

import * as keys from "openclaw/plugin-sdk/routing";

type Told = "runId" | "sessionKey" | "trigger" | "channel" | "messageProvider" | "senderId";
/** What hooks are told about a run, as far as it matters here. */
export type Run = { [name in Told]?: string } & { inputProvenance?: { kind: string } };

/** Who the daemon is told has spoken; it alone decides whose peer that is, or none. */
export type Author = "human" | "assistant" | "subagent" | "cron" | "automation";

export type Spoken = { role: "user" | "assistant"; content: string };

/** The operator's own consoles: who writes there is the owner, whatever id the program goes by. */
const CONSOLES = new Set(["webchat", "cli", "tui"]);

/** Whether what is said in a session is kept: an incognito one leaves nothing behind. */
export function isKept(sessionKey: string | undefined): sessionKey is string {
  return Boolean(sessionKey) && !keys.isIncognitoSessionKey(sessionKey);
}

/** Whether a person asks, and who answers. What machines tell each other is nobody's words. */
export function speakersOf(run: Run): { isHuman: boolean; answers: Author } {
  const { sessionKey, trigger = "user", inputProvenance } = run;
  const machine = (answers: Author) => ({ isHuman: false, answers });
  if (keys.isSubagentSessionKey(sessionKey) || keys.isAcpSessionKey(sessionKey)) return machine("subagent");
  if (trigger === "cron" || keys.isCronSessionKey(sessionKey)) return machine("cron");
  if (trigger !== "user" && trigger !== "manual") return machine("automation");
  // What another session handed in is answered to the person.
  const isHuman = !inputProvenance || inputProvenance.kind === "external_user";
  return { isHuman, answers: "assistant" };
}

/** The sender's id on the platform that the message came from; nothing where only the owner writes. */
export function senderOf(run: Run): { runtime_user?: string } {
  const channel = run.channel ?? run.messageProvider;
  return channel && !CONSOLES.has(channel) && run.senderId ? { runtime_user: run.senderId } : {};
}

/** Whether several people speak in a session. */
export function isGroup(sessionKey: string): boolean {
  return /^agent:[^:]+:[^:]+(:[^:]+)?:(group|channel):/.test(sessionKey);
}

/**
 * What was said in a run after what it began with: answers, and what the person added meanwhile. Of several
 * texts of the agent in a row the last one is the answer, the others were on the way to it.
 */
export function saidAfter(asked: string, messages: readonly unknown[]): Spoken[] {
  const all = (messages as { role: string; content?: unknown }[]).flatMap(({ role, content }): Spoken[] => {
    const text = textOf(content);
    return text && (role === "user" || role === "assistant") ? [{ role, content: text }] : [];
  });
  const asks = all.map(({ role, content }) => role === "user" && content);
  const begin = asks.includes(asked) ? asks.lastIndexOf(asked) : asks.findLastIndex(Boolean);
  const rest = all.slice(begin + 1);
  return rest.filter(({ role }, at) => role === "user" || rest[at + 1]?.role !== "assistant");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [];
  return blocks.flatMap(({ type, text }) => (type === "text" && text ? [text] : [])).join("\n");
}
