/** `openclaw honcho …` is `honchod …`, about the host of this plugin. */

import { spawn } from "node:child_process";

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import type { Settings } from "./daemon.ts";

const ITSELF = { name: "honcho", description: "Look after memory: hands over to honchod (status, doctor, …)" };
/** The commands that are about one host. */
const HOSTED = "identity map migrate mode peer sessions setup strategy tokens tools".split(" ");

export function registerCommand(api: OpenClawPluginApi, settings: Settings): void {
  const descriptors = [{ ...ITSELF, hasSubcommands: false }];
  api.registerCli(({ program }) => {
    const command = program.command(ITSELF.name).description(ITSELF.description).argument("[words...]");
    command.helpOption(false).allowUnknownOption().action((words: string[]) => handOver(settings, words));
  }, { descriptors });
}

async function handOver({ host, command, socket }: Settings, words: string[]): Promise<void> {
  const isHosted = HOSTED.includes(words[0] ?? "") && !words.includes("--host") && !words.includes("--help");
  const env = socket ? { ...process.env, HONCHOD_SOCKET: socket } : process.env;
  const child = spawn(command, isHosted ? [...words, "--host", host] : words, { stdio: "inherit", env });
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve(code ?? 1));
  });
}
