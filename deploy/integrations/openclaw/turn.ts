/** Who speaks in a run of OpenClaw, where, and what was said. No I/O. */

import {
  isAcpSessionKey,
  isCronSessionKey,
  isIncognitoSessionKey,
  isSubagentSessionKey,
} from "openclaw/plugin-sdk/routing";

/** What hooks are told about a run, as far as it matters here. */
export interface Run {
  runId?: string;
  sessionKey?: string;
  trigger?: string;
  channel?: string;
  messageProvider?: string;
  senderId?: string;
  inputProvenance?: { kind: string };
}

/** Who the daemon is told has spoken; it alone decides whose peer that is, or none. */
export type Author = "human" | "assistant" | "subagent" | "cron" | "automation";

export interface Said {
  id: string;
  role: "user" | "assistant";
  author: Author;
  content: string;
  runtime_user?: string;
}

/** The operator's own console: who writes there is the owner, whatever id the client goes by. */
const CONSOLES = new Set(["webchat", "cli", "tui"]);

/** Whether a run is kept at all: an incognito session leaves nothing behind. */
export function isKept(run: Run): run is Run & { runId: string; sessionKey: string } {
  return Boolean(run.runId && run.sessionKey) && !isIncognitoSessionKey(run.sessionKey);
}

/** Whether a session is a person's, by its key alone. */
export function isPersonal(sessionKey: string): boolean {
  return authorsOf({ sessionKey }).asks === "human" && !isIncognitoSessionKey(sessionKey);
}

/** Who speaks on the side of the user, and who answers. */
export function authorsOf(run: Run): { asks: Author; answers: Author } {
  const { sessionKey, trigger = "user", inputProvenance } = run;
  if (isSubagentSessionKey(sessionKey) || isAcpSessionKey(sessionKey)) return both("subagent");
  if (trigger === "cron" || isCronSessionKey(sessionKey)) return both("cron");
  if (trigger !== "user" && trigger !== "manual") return both("automation");
  // The answer to what another session handed in is still read by the person.
  const isHuman = !inputProvenance || inputProvenance.kind === "external_user";
  return { asks: isHuman ? "human" : "automation", answers: "assistant" };
}

function both(author: Author): { asks: Author; answers: Author } {
  return { asks: author, answers: author };
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

/** The end of a run: what the user added while it ran, and the final answer ("" for none). */
export function endOf(messages: readonly unknown[], asked: string): { added: string[]; answer: string } {
  const spoken = messages.map((message) => message as { role?: string; content?: unknown });
  const first = spoken.findLastIndex(({ role, content }) => role === "user" && textOf(content) === asked);
  const rest = first < 0 ? [] : spoken.slice(first + 1);
  const texts = (role: string) => rest.filter((one) => one.role === role).map((one) => textOf(one.content));
  return {
    added: texts("user").filter(Boolean),
    answer: texts("assistant").findLast(Boolean) ?? "",
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [];
  return blocks.flatMap(({ type, text }) => (type === "text" && text ? [text] : [])).join("\n");
}
