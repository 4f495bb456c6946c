/** The memory tools, as the daemon describes them. */

import { readFileSync } from "node:fs";

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";
import { isIncognitoSessionKey } from "openclaw/plugin-sdk/routing";

import type { Daemon } from "./daemon.ts";

interface ToolList {
  tools: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
}

/** What `honchod tools list --family openclaw --json` prints: OpenClaw wants them before a daemon can be asked. */
const LIST = new URL("./tools.json", import.meta.url);
/** A tool may ask Honcho itself, and its model. */
const TIMEOUT_MS = 120_000;

export function registerTools(api: OpenClawPluginApi, daemon: Daemon): void {
  const { host } = daemon.settings;
  /** Which of them the host's recall mode leaves, once that is known. */
  let offered: Set<string> | undefined;
  api.on("gateway_start", async () => {
    const path = `/v1/tools?family=openclaw&host=${encodeURIComponent(host)}`;
    const { tools } = await daemon.call<ToolList>("GET", path);
    offered = new Set(tools.map((tool) => tool.function.name));
  });
  const { tools } = JSON.parse(readFileSync(LIST, "utf8")) as ToolList;
  for (const { function: { name, description, parameters } } of tools) {
    api.registerTool(
      ({ sessionKey: session }) => {
        if (offered?.has(name) === false || isIncognitoSessionKey(session)) return null;
        return {
          name,
          label: name,
          description,
          parameters,
          async execute(_call, given) {
            const path = `/v1/tools/${name}`;
            const body = { session, arguments: given as object };
            const { text, result } = await daemon.call<{ text: string; result: unknown }>("POST", path, body, TIMEOUT_MS);
            return { content: [{ type: "text", text }], details: { result } };
          },
        };
      },
      { name },
    );
  }
}
