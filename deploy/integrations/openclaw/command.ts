/** `openclaw honcho …` is `honchod …`, about the host of this plugin. */

import { spawn } from "node:child_process";

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import type { Settings } from "./daemon.ts";

/** The commands that are about one host. */
const ABOUT_A_HOST = new Set(
  ["identity", "map", "migrate", "mode", "peer", "sessions", "setup", "strategy", "tokens", "tools"],
);

export function registerCommand(api: OpenClawPluginApi, settings: Settings): void {
  const name = "honcho";
  const description = "Look after memory: hands over to honchod (status, doctor, mode, …)";
  api.registerCli(
    ({ program }) => {
      program
        .command(name)
        .description(description)
        .argument("[words...]")
        .helpOption(false)
        .allowUnknownOption()
        .action((words: string[]) => handOver(settings, words));
    },
    { descriptors: [{ name, description, hasSubcommands: false }] },
  );
}

async function handOver({ host, command, socket }: Settings, words: string[]): Promise<void> {
  const isAboutHost = ABOUT_A_HOST.has(words[0] ?? "") && !words.includes("--help");
  const all = isAboutHost && !words.includes("--host") ? [...words, "--host", host] : words;
  const env = socket ? { ...process.env, HONCHOD_SOCKET: socket } : process.env;
  const child = spawn(command, all.length ? all : ["--help"], { stdio: "inherit", env });
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve(code ?? 1));
  });
}
