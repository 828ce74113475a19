import type { Command } from "../wire/types";

/** Commands that fit what is being typed; none once there is an argument. */
export function fitting(commands: readonly Command[], text: string): Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const names = commands.filter((command) => command.name.toLowerCase().includes(typed));
  return names.sort((a, b) => rank(a, typed) - rank(b, typed)).slice(0, 8);
}

const rank = (command: Command, typed: string): number => (command.name.toLowerCase().startsWith(typed) ? 0 : 1);
