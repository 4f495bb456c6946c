/** The daemon's socket: HTTP with JSON. What cannot be handed over there goes to `honchod send`. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import type { Author, Spoken } from "./turn.ts";

export type Settings = { host: string; command: string; waitMs: number; socket?: string };
type Message = Spoken & { id: string; author: Author; runtime_user?: string };
export type Batch = { session: string; messages: Message[]; group: boolean; turn_end?: boolean };

export class Daemon {
  /** Connections are used again. One that the daemon has closed meanwhile costs a way by the command. */
  private readonly agent = new Agent({ keepAlive: true });
  /** Settles when all that was handed in so far is kept: a session's messages must not pass each other. */
  private settled: Promise<unknown> = Promise.resolve();
  /** True while the drop box may hold what must arrive before anything new. */
  private isAway = false;

  readonly settings: Settings;
  private readonly warn: (line: string) => void;

  constructor(settings: Settings, warn: (line: string) => void) {
    this.settings = settings;
    this.warn = warn;
  }

  /** One call. Rejects with what the daemon says, its status being the cause, or with what the socket says. */
  async call<T>(method: string, path: string, body?: object, timeoutMs = 5_000): Promise<T> {
    const options = { socketPath: this.settings.socket ?? socketPath(), agent: this.agent, method, path };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({ ...options, signal: AbortSignal.timeout(timeoutMs) }, resolve);
      sent.on("error", reject);
      sent.end(body && JSON.stringify({ host: this.settings.host, ...body }));
    });
    const value = JSON.parse(await text(answer));
    const status = answer.statusCode ?? 0;
    if (status >= 400) throw new Error(`${value.code}: ${value.detail}`, { cause: status });
    return value;
  }

  /** Keep what was said, behind all that came before. Never rejects: what goes wrong is logged without it. */
  keep(batch: Batch): Promise<unknown> {
    return this.inOrder(async () => {
      if (!this.isAway) {
        const failure = await this.call("POST", "/v1/messages", batch).then(() => null, (error: Error) => error);
        if (!failure) return;
        // A daemon that stops has stored nothing, and is as good as away.
        if (typeof failure.cause === "number" && failure.cause !== 503) throw failure;
      }
      this.isAway = await this.send(batch);
    });
  }

  /** Tell the daemon about a session, behind all that came before. Never rejects. */
  tell(what: "start" | "end" | "reset", session: string): Promise<unknown> {
    return this.inOrder(() => this.call("POST", `/v1/sessions/${what}`, { session }));
  }

  private inOrder(job: () => Promise<unknown>): Promise<unknown> {
    this.settled = this.settled.then(job).catch((error: Error) => this.warn(`honchod: ${error.message}`));
    return this.settled;
  }

  /** Hand over through the command, which keeps it in the drop box while the daemon is away: whether it did. */
  private async send({ session, messages, turn_end, group }: Batch): Promise<boolean> {
    const { host, command, socket } = this.settings;
    const words = ["send", "--host", host, "--session", session, "--ndjson", "--json"];
    if (turn_end) words.push("--turn-end");
    if (group) words.push("--group");
    if (socket) words.push("--socket", socket);
    // To start a program holds this one up for a moment: the prompt goes out first.
    await sleep(100);
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.on("error", () => undefined);
    child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const ended = new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
    const [printed, code] = await Promise.all([text(child.stdout), ended]);
    if (code !== 0) throw new Error(`${command} send ended with ${code}: ${messages.length} messages not kept`);
    return JSON.parse(printed).results.some(({ status }: { status: string }) => status === "dropped");
  }
}

/** Where every client looks for the daemon. */
function socketPath(): string {
  const { HONCHOD_SOCKET: named, XDG_RUNTIME_DIR: runtime } = process.env;
  const own = runtime && `${runtime}/honchod/honchod.sock`;
  return named || (own && existsSync(own) ? own : "/run/honchod/honchod.sock");
}
