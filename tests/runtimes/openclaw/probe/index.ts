/** Stands before and behind all other plugins while a prompt is built, and writes down how long they took. */

import { appendFileSync } from "node:fs";

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: "probe",
  name: "Probe",
  description: "Measures how long the other plugins hold a prompt up.",
  register(api) {
    const file = String(api.pluginConfig?.file);
    const begun = new Map<string | undefined, number>();
    api.on("before_prompt_build", (_event, { runId }) => void begun.set(runId, performance.now()), {
      priority: 1_000_000,
    });
    api.on(
      "before_prompt_build",
      (_event, { runId }) => {
        const ms = performance.now() - (begun.get(runId) ?? Number.NaN);
        appendFileSync(file, `${JSON.stringify({ run: runId, ms })}\n`);
      },
      { priority: -1_000_000 },
    );
  },
});
