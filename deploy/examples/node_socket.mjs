// @ts-check
/**
 * The plain socket from Node.js: write what was said, get memory back, hear an answer as it comes.
 * Nothing but Node's own modules. The types are JSDoc: `tsc --checkJs` reads them as TypeScript.
 *
 * Usage: node node_socket.mjs SESSION TEXT
 */

import { request } from "node:http";

/** @typedef {{ status: number, body: import("node:http").IncomingMessage }} Answer */

/** Where the daemon listens. */
export function socketPath() {
  const { HONCHOD_SOCKET: named, XDG_RUNTIME_DIR: runtime } = process.env;
  return named ?? (runtime ? `${runtime}/honchod/honchod.sock` : "/run/honchod/honchod.sock");
}

/**
 * Send one request; the body of the answer is still to be read.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [accept]
 * @returns {Promise<Answer>}
 */
export function send(method, path, body, accept = "application/json") {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", Accept: accept };
    const sent = request({ socketPath: socketPath(), method, path, headers }, (answer) =>
      resolve({ status: answer.statusCode ?? 0, body: answer }),
    );
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * One call; throws with the daemon's own words when it refuses.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function call(method, path, body) {
  const answer = await send(method, path, body);
  let text = "";
  for await (const chunk of answer.body.setEncoding("utf8")) text += chunk;
  const value = JSON.parse(text);
  if (answer.status >= 400) throw new Error(`${value.code}: ${value.detail}`);
  return value;
}

/**
 * Ask a question; gives the answer piece by piece.
 * @param {string} session
 * @param {string} query
 * @returns {AsyncGenerator<string>}
 */
export async function* ask(session, query) {
  const body = { session, arguments: { query } };
  const answer = await send("POST", "/v1/tools/honcho_reasoning", body, "text/event-stream");
  let held = "";
  for await (const chunk of answer.body.setEncoding("utf8")) {
    held += chunk;
    const events = held.split("\n\n");
    held = events.pop() ?? "";
    for (const event of events) {
      const data = JSON.parse(event.slice(event.indexOf("data: ") + 6));
      if (event.startsWith("event: error")) throw new Error(`${data.code}: ${data.detail}`);
      if (!data.done) yield data.delta.content;
    }
  }
  // What fails before the first word is a problem document, not a stream.
  if (answer.status >= 400) {
    const problem = JSON.parse(held);
    throw new Error(`${problem.code}: ${problem.detail}`);
  }
}

const [session, text] = process.argv.slice(2);
if (session && text) {
  const messages = [{ role: "user", content: text }];
  const written = await call("POST", "/v1/messages", { session, turn_end: true, messages });
  const recalled = await call("POST", "/v1/recall", { session, query: text });
  let answer = "";
  for await (const piece of ask(session, text)) answer += piece;
  console.log(JSON.stringify({ written: written.results, recall: recalled.status, answer }));
}
