import { describe, expect, it } from "vitest";
import { applyFrame, EMPTY, ended, recoverable, running } from "../src/state/lists";
import type { EventsFrame } from "../src/wire/types";
import { hybrid, record, session } from "./samples";

const after = (...frames: EventsFrame[]) => frames.reduce(applyFrame, EMPTY);
const attention = { source: "agent", reason: "permission", since: "2026-01-01T10:00:00.000Z" };

describe("the lists of /ws/events", () => {
  it("follow every kind of frame", () => {
    const lists = after(
      { type: "snapshot", sessions: [session("a"), session("b")], records: [record("r")] },
      { type: "session.set", session: session("a", { title: "new" }) },
      { type: "session.removed", id: "b" },
      { type: "record.set", record: record("q") },
      { type: "record.removed", id: "r" },
    );
    expect([...lists.sessions.keys()]).toEqual(["a"]);
    expect(lists.sessions.get("a")?.title).toBe("new");
    expect([...lists.records.keys()]).toEqual(["q"]);
  });

  it("start anew with each snapshot, and ignore what they do not know", () => {
    const lists = after(
      { type: "snapshot", sessions: [session("a")], records: [] },
      { type: "later.invention" } as unknown as EventsFrame,
      { type: "snapshot", sessions: [session("z")], records: [] },
    );
    expect([...lists.sessions.keys()]).toEqual(["z"]);
  });
});

describe("what Home shows", () => {
  const lists = after({
    type: "snapshot",
    sessions: [
      session("old", { createdAt: "2026-01-01T09:00:00.000Z" }),
      session("wants", { attention, createdAt: "2026-01-01T11:00:00.000Z" }),
      session("new", { createdAt: "2026-01-01T10:00:00.000Z", hybrid: hybrid() }),
      session("over", { status: "exited", exitCode: 0 }),
      session("shut", { hybrid: hybrid({ state: "closed" }), status: "exited" }),
    ],
    records: [
      record("r1", { updatedAt: "2026-01-01T10:00:00.000Z" }),
      record("r2", { state: "interrupted", updatedAt: "2026-01-02T10:00:00.000Z" }),
      record("r3", { state: "active" }),
    ],
  });
  const ids = (items: { id: string }[]) => items.map(({ id }) => id);

  it("running: attention first, active only", () => expect(ids(running(lists))).toEqual(["wants", "old", "new"]));
  it("ended: ordinary terminals only", () => expect(ids(ended(lists))).toEqual(["over"]));
  it("recoverable: newest first, without active ones", () => expect(ids(recoverable(lists))).toEqual(["r2", "r1"]));
});
