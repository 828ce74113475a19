/** Lines of a diff, inline and in two columns. Pure. */
import { structuredPatch } from "diff";

export interface Line {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
  before?: number;
  after?: number;
}

const LIMIT_MS = 400;

/** null when the texts are too different to compare in a reasonable time. */
export function diffLines(before: string, after: string): Line[] | null {
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, timeout: LIMIT_MS });
  if (!patch) return null;
  return patch.hunks.flatMap((hunk, index) => {
    const lines = hunkLines(hunk.lines, hunk.oldStart, hunk.newStart);
    const skipped = index > 0 || hunk.oldStart > 1;
    return skipped ? [{ kind: "gap", text: "" } as Line, ...lines] : lines;
  });
}

function hunkLines(lines: string[], before: number, after: number): Line[] {
  const out: Line[] = [];
  for (const line of lines) {
    const text = line.slice(1);
    if (line[0] === "+") out.push({ kind: "added", text, after: after++ });
    else if (line[0] === "-") out.push({ kind: "removed", text, before: before++ });
    else if (line[0] === " ") out.push({ kind: "same", text, before: before++, after: after++ });
  }
  return out;
}

/** Removed and added runs stand beside each other. */
export function sideBySide(lines: readonly Line[]): [Line | null, Line | null][] {
  const rows: [Line | null, Line | null][] = [];
  let removed: Line[] = [];
  let added: Line[] = [];
  const settle = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) rows.push([removed[i] ?? null, added[i] ?? null]);
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      settle();
      rows.push([line, line]);
    }
  }
  settle();
  return rows;
}

export const countOf = (lines: readonly Line[], kind: Line["kind"]): number => lines.filter((line) => line.kind === kind).length;
