/** The memory tools, as the daemon describes them. */

import { readFileSync } from "node:fs";

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import type { Daemon } from "./daemon.ts";
import { isKept } from "./turn.ts";

type Tool = { name: string; description: string; parameters: Record<string, unknown> };
type ToolList = { tools: { function: Tool }[] };

/** What `honchod tools list --family openclaw --json` prints: OpenClaw wants them before a daemon can be asked. */
const LIST = new URL("./tools.json", import.meta.url);
/** A tool may ask Honcho itself, and its model. */
const TIMEOUT_MS = 120_000;

export function registerTools(api: OpenClawPluginApi, daemon: Daemon): void {
  /** Which of them the host's recall mode leaves, once that is known. */
  let offered: Set<string> | undefined;
  api.on("gateway_start", async () => {
    const path = `/v1/tools?family=openclaw&host=${encodeURIComponent(daemon.settings.host)}`;
    offered = new Set((await daemon.call<ToolList>("GET", path)).tools.map((tool) => tool.function.name));
  });
  for (const { function: tool } of (JSON.parse(readFileSync(LIST, "utf8")) as ToolList).tools) {
    const { name } = tool;
    api.registerTool(({ sessionKey: session }) => {
      if (offered?.has(name) === false || !isKept(session)) return null;
      const execute = async (_call: string, given: unknown) => {
        const body = { session, arguments: given };
        const path = `/v1/tools/${name}`;
        const { text, result } = await daemon.call<{ text: string; result: unknown }>("POST", path, body, TIMEOUT_MS);
        return { content: [{ type: "text" as const, text }], details: { result } };
      };
      return { ...tool, label: name, execute };
    }, { name });
  }
}
