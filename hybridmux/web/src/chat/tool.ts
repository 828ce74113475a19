/** What a tool call has to show, out of fields that may be anything. Pure. */
import type { Content } from "../wire/types";
import type { ToolItem } from "./fold";

export interface Diff {
  type: "diff";
  path: string;
  oldText: string | null;
  newText: string;
  truncated?: boolean;
}
export type Piece = Diff | { type: "text"; text: string; truncated: boolean } | { type: "other"; content: Content };
export interface Output {
  text: string;
  exitCode?: number;
  signal?: string;
  truncated: boolean;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function piece(block: unknown): Piece | null {
  if (!isObject(block) || block.type === "terminal") return null;
  if (block.type === "diff") {
    const { path, oldText, newText, truncated } = block;
    return {
      type: "diff",
      path: textOf(path) ?? "",
      oldText: textOf(oldText) ?? null,
      newText: textOf(newText) ?? "",
      truncated: truncated === true,
    };
  }
  if (block.type === "text") return { type: "text", text: textOf(block.text) ?? "", truncated: block.truncated === true };
  return { type: "other", content: block as unknown as Content };
}

/** The blocks worth showing; text that is the output once more is left out. */
export function pieces(item: ToolItem): Piece[] {
  const output = outputOf(item)?.text.trim();
  return (item.content ?? [])
    .map(piece)
    .filter((each): each is Piece => each !== null && !(each.type === "text" && output !== undefined && unfenced(each.text) === output));
}

/** Text without the code fence around all of it. */
export function unfenced(text: string): string {
  const fence = /^\s*(`{3,})[^\n`]*\n([\s\S]*?)\n?\1\s*$/.exec(text);
  return (fence?.[2] ?? text).trim();
}

export function outputOf(item: ToolItem): Output | null {
  const output: unknown = item.output;
  if (typeof output === "string") return { text: output, truncated: false };
  if (!isObject(output)) return null;
  const { exitCode, signal, truncated } = output;
  const text = textOf(output.text) ?? "";
  if (text === "" && exitCode === undefined && signal === undefined) return null;
  return { text, exitCode: numberOf(exitCode), signal: textOf(signal), truncated: truncated === true };
}

/** A command is shown as it was given; anything else as JSON. null when there is nothing. */
export function inputOf(item: ToolItem): string | null {
  const { input } = item;
  if (input === undefined || input === null) return null;
  if (typeof input === "string") return input;
  if (isObject(input)) {
    const { command, cmd, ...rest } = input;
    const line = command ?? cmd;
    if (Object.keys(rest).length === 0 && line !== undefined)
      return Array.isArray(line) ? line.join(" ") : String(line);
  }
  return JSON.stringify(input, null, 2);
}

/** Lines of `text`: the first `most`, and how many are left out. */
export function capped(text: string, most: number): { shown: string; more: number } {
  const lines = text.replace(/\n+$/, "").split("\n");
  return { shown: lines.slice(0, most).join("\n"), more: Math.max(0, lines.length - most) };
}

/** What changes something, runs or failed is worth seeing at once; what was only read is not. */
export function startsOpen(item: ToolItem): boolean {
  if (item.status === "failed" || item.status === "in_progress") return true;
  return ["edit", "delete", "move", "execute"].includes(item.toolKind ?? "");
}
