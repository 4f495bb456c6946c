/** The daemon's socket: HTTP with JSON. What cannot be handed over there goes to `honchod send`. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { text } from "node:stream/consumers";

import type { Said } from "./turn.ts";

const WRITE_TIMEOUT_MS = 5_000;

/** A request that the daemon refused, in its own words. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, problem: { code?: string; detail?: string }) {
    super(`${problem.code ?? status}: ${problem.detail ?? "refused"}`);
    this.status = status;
  }
}

export interface Batch {
  session: string;
  messages: Said[];
  turn_end: boolean;
  group: boolean;
}

export interface Settings {
  host: string;
  command: string;
  waitMs: number;
  socket?: string;
}

export class Daemon {
  /** Settles when all that was handed in so far is kept: a session's messages must not pass each other. */
  private settled: Promise<void> = Promise.resolve();
  /** True while the box may hold what must arrive before anything new. */
  private isAway = false;

  constructor(
    readonly settings: Settings,
    private readonly warn: (line: string) => void,
  ) {}

  /** One call. Rejects with `Refusal`, or with what is wrong with the socket. */
  async call<T>(method: string, path: string, body?: object, timeoutMs = WRITE_TIMEOUT_MS): Promise<T> {
    const answer = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      const sent = request(
        {
          socketPath: this.settings.socket ?? socketPath(),
          agent: false,
          method,
          path,
          headers: { "Content-Type": "application/json" },
          signal: AbortSignal.timeout(timeoutMs),
        },
        resolve,
      );
      sent.on("error", reject);
      sent.end(body && JSON.stringify({ host: this.settings.host, ...body }));
    });
    const value = JSON.parse(await text(answer));
    if ((answer.statusCode ?? 500) >= 400) throw new Refusal(answer.statusCode ?? 500, value);
    return value as T;
  }

  /** Keep what was said, behind all that came before. Never rejects: what goes wrong is logged without it. */
  keep(batch: Batch): Promise<void> {
    return this.inOrder(async () => {
      if (!this.isAway) {
        try {
          await this.call("POST", "/v1/messages", batch);
          return;
        } catch (error) {
          // Only a daemon that stored nothing and cannot be waited for is passed by.
          if (error instanceof Refusal && error.status !== 503) throw error;
        }
      }
      this.isAway = await this.send(batch);
    });
  }

  /** Tell the daemon about a session, behind all that came before. Never rejects. */
  tell(what: "start" | "end" | "reset", session: string): Promise<void> {
    return this.inOrder(() => this.call("POST", `/v1/sessions/${what}`, { session }));
  }

  private inOrder(job: () => Promise<unknown>): Promise<void> {
    const told = (error: Error) => this.warn(`honchod: ${error.message}`);
    this.settled = this.settled.then(job).then(() => undefined, told);
    return this.settled;
  }

  /** Hand over through the command, which drops into the box while the daemon is away; true if it did. */
  private async send({ session, messages, turn_end, group }: Batch): Promise<boolean> {
    const { host, command, socket } = this.settings;
    const flags = [...(turn_end ? ["--turn-end"] : []), ...(group ? ["--group"] : [])];
    const named = socket ? ["--socket", socket] : [];
    const words = ["send", "--host", host, "--session", session, "--ndjson", "--json", ...flags, ...named];
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "ignore"] });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on("error", reject).on("close", resolve);
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const [printed, code] = await Promise.all([text(child.stdout), ended]);
    if (code !== 0) throw new Error(`${command} send ended with ${code}: ${messages.length} messages not kept`);
    const { results } = JSON.parse(printed) as { results: { status: string }[] };
    return results.some(({ status }) => status === "dropped");
  }
}

/** Where every client looks for the daemon. */
function socketPath(): string {
  const { HONCHOD_SOCKET: named, XDG_RUNTIME_DIR: runtime } = process.env;
  if (named) return named;
  const own = runtime && `${runtime}/honchod/honchod.sock`;
  return own && existsSync(own) ? own : "/run/honchod/honchod.sock";
}
