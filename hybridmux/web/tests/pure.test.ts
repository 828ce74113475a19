import { describe, expect, it } from "vitest";
import { withoutColours } from "../src/chat/ansi";
import { diffLines, sideBySide } from "../src/chat/diff";
import { contentOf, fieldsOf } from "../src/chat/form";
import { fitting } from "../src/chat/slash";
import { startFor } from "../src/chat/TimelineView";
import { capped, inputOf, outputOf, pieces, startsOpen, unfenced } from "../src/chat/tool";
import type { ToolItem } from "../src/chat/fold";
import { lossOf } from "../src/home/RecordRow";
import { ApiError } from "../src/net/api";
import { refusalOf } from "../src/session/moves";
import { parseRoute } from "../src/state/route";
import { t } from "../src/strings";
import { ago, count, duration, shortPath } from "../src/ui/format";
import { record } from "./samples";

const tool = (change: object): ToolItem => ({ kind: "tool", role: "agent", id: "t", ...change });

describe("tool calls", () => {
  it("show a command as it was given and anything else as JSON", () => {
    expect(inputOf(tool({ input: { command: "ls -l" } }))).toBe("ls -l");
    expect(inputOf(tool({ input: { cmd: ["ls", "-l"] } }))).toBe("ls -l");
    expect(inputOf(tool({ input: { path: "a", n: 1 } }))).toBe('{\n  "path": "a",\n  "n": 1\n}');
    expect(inputOf(tool({}))).toBeNull();
  });

  it("have an output of whatever shape", () => {
    expect(outputOf(tool({ output: { text: "hi", exitCode: 2 } }))).toEqual({ text: "hi", exitCode: 2, signal: undefined, truncated: false });
    expect(outputOf(tool({ output: "hi" }))).toEqual({ text: "hi", truncated: false });
    for (const output of [undefined, null, 3, [], { text: "" }]) expect(outputOf(tool({ output }))).toBeNull();
  });

  it("do not show the same text twice", () => {
    const content = [{ type: "text", text: "```\nhi\n```" }, { type: "text", text: "other" }];
    expect(pieces(tool({ content, output: { text: "hi\n" } })).map((piece) => piece.type === "text" && piece.text)).toEqual(["other"]);
    expect(unfenced("````sh\na```b\n````")).toBe("a```b");
  });

  it("survive blocks of no shape at all", () => {
    expect(pieces(tool({ content: [null, 3, "x", {}, { type: "diff" }, { type: "terminal", terminalId: "1" }] }))).toHaveLength(2);
  });

  it("open by themselves when there is something to see", () => {
    expect(startsOpen(tool({ toolKind: "execute", status: "completed" }))).toBe(true);
    expect(startsOpen(tool({ toolKind: "read", status: "completed" }))).toBe(false);
    expect(startsOpen(tool({ toolKind: "read", status: "failed" }))).toBe(true);
  });

  it("are cut by lines", () => {
    expect(capped("a\nb\nc\n", 2)).toEqual({ shown: "a\nb", more: 1 });
    expect(capped("a\nb\n", 2)).toEqual({ shown: "a\nb", more: 0 });
  });

  it("lose their colours", () => {
    expect(withoutColours("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07l\x1b]8;;\x07\r\n10%\r20%\nend")).toBe("red l\n20%\nend");
  });
});

describe("diffs", () => {
  const before = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n");
  const lines = diffLines(before, before.replace("line 20", "LINE 20\nextra"))!;

  it("number lines and leave out what is far away", () => {
    expect(lines.map(({ kind }) => kind)).toEqual(["gap", "same", "same", "same", "removed", "added", "added", "same", "same", "same"]);
    expect(lines.find(({ kind }) => kind === "removed")).toMatchObject({ before: 21, text: "line 20" });
    expect(lines.at(-1)).toMatchObject({ before: 24, after: 25 });
  });

  it("stand side by side", () => {
    const rows = sideBySide(lines).filter(([left, right]) => left !== right);
    expect(rows.map(([left, right]) => [left?.text, right?.text])).toEqual([["line 20", "LINE 20"], [undefined, "extra"]]);
  });

  it("of a new file are all additions", () => {
    expect(diffLines("", "a\nb\n")!.map(({ kind }) => kind)).toEqual(["added", "added"]);
  });
});

describe("forms", () => {
  const fields = fieldsOf({
    type: "object",
    required: ["name", "size"],
    properties: {
      name: { type: "string", title: "Name" },
      size: { type: "integer", default: 3 },
      sure: { type: "boolean", default: true },
      colour: { oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
      tags: { type: "array", items: { enum: ["a", "b"] } },
      note: { type: "string" },
    },
  });

  it("are read from a schema", () => {
    expect(fields.map(({ name, kind, label, required }) => [name, kind, label, required])).toEqual([
      ["name", "text", "Name", true], ["size", "integer", "size", true], ["sure", "boolean", "sure", false],
      ["colour", "choice", "colour", false], ["tags", "choices", "tags", false], ["note", "text", "note", false],
    ]);
    expect(fields[3]!.choices).toEqual([{ value: "r", label: "Red" }, { value: "g", label: "Green" }]);
  });

  it("answer with typed values and without what was left empty", () => {
    expect(contentOf(fields, { name: "x", size: "4", sure: false, colour: "", tags: ["b"], note: "" })).toEqual({ name: "x", size: 4, sure: false, tags: ["b"] });
  });

  it.each([undefined, null, 7, {}, { properties: [] }])("of %j have no fields", (schema) => expect(fieldsOf(schema)).toEqual([]));
});

describe("slash completion", () => {
  const commands = ["review", "compact", "view"].map((name) => ({ name, description: "" }));
  const names = (text: string) => fitting(commands, text).map(({ name }) => name);
  it("begins at the first character and ends with the argument", () => {
    expect(names("/")).toEqual(["review", "compact", "view"]);
    expect(names("/vi")).toEqual(["view", "review"]);
    for (const text of ["", "vi", " /vi", "/view x"]) expect(names(text)).toEqual([]);
  });
});

describe("the part of a timeline that is drawn", () => {
  it("lets go what is far above while the reader follows", () => {
    expect(startFor(10_000, 0, true)).toBe(9_880);
    expect(startFor(10_000, 0, false)).toBe(0);
    expect(startFor(300, 0, true)).toBe(0);
    expect(startFor(0, 500, true)).toBe(0);
  });
});

describe("refusals", () => {
  const of = (status: number, body: object) => refusalOf(new ApiError(status, { error: "cause", ...body }), "Title");
  it("ask what can be asked", () => {
    expect(of(409, { reason: "session_ambiguous", candidates: [] })).toMatchObject({ ask: "candidates", gone: false });
    expect(of(409, { reason: "session_missing" })).toMatchObject({ ask: "candidates", gone: true, candidates: [] });
    expect(of(409, { reason: "config_missing" })).toEqual({ ask: "config" });
    expect(of(409, { reason: "connector_missing", connector: { title: "C" } })).toMatchObject({ ask: "connector" });
  });
  it("tell the rest", () => {
    expect(of(502, {})).toEqual({ ask: "nothing", title: "Title", cause: "cause." });
    expect(of(409, { reason: "not_eligible", eligibility: "occupied" })).toMatchObject({ cause: t.reason.occupied });
    expect(of(409, { reason: "not_eligible", eligibility: "brand_new" })).toMatchObject({ cause: "cause." });
    expect(of(0, { error: "" })).toMatchObject({ cause: expect.stringContaining("not known") });
  });
});

describe("small words", () => {
  it("durations", () => expect([0, 59_999, 60_000, 3_723_000].map(duration)).toEqual(["0 s", "59 s", "1:00", "1:02:03"]));
  it("ages", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(ago("2026-01-02T00:00:00Z", now)).toBe("now");
    expect(ago("2026-01-01T23:00:00Z", now)).toMatch(/^1.*h.*ago$/);
    expect(ago(null)).toBe("");
    expect(ago("nonsense")).toBe("");
  });
  it("counts", () => expect([950, 12_300, 200_000, 1_200_000].map(count)).toEqual(["950", "12.3k", "200k", "1.2M"]));
  it("paths", () => expect(["/root", "/root/a", "/home/x/a", "/rooted"].map(shortPath)).toEqual(["~", "~/a", "~/a", "/rooted"]));
  it("routes", () => {
    expect(parseRoute("#/s/a%2Fb")).toEqual({ at: "session", id: "a/b" });
    for (const hash of ["", "#/", "#token=x", "#/s/"]) expect(parseRoute(hash)).toEqual({ at: "home" });
  });
  it("losses", () => {
    expect(lossOf(record("r"))).toEqual([]);
    expect(lossOf(record("r", { state: "interrupted", activity: "turn", lostQueued: 2, configMissing: true }))).toHaveLength(3);
  });
});
