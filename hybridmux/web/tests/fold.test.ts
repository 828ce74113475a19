import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EMPTY_TIMELINE, fold } from "../src/chat/fold";
import type { ChatEvent } from "../src/wire/types";

const at = "2026-01-01T10:00:00.000Z";
const text = (seq: number, messageId: string, words: string): ChatEvent => ({
  seq, at, type: "message.append", messageId, role: "agent", content: { type: "text", text: words },
});

describe("fold", () => {
  it("gives the same timeline however the events are cut into frames", () => {
    const events = [text(1, "a", "one "), text(2, "a", "two"), text(3, "b", "three"), text(4, "a", " late")];
    const whole = fold(EMPTY_TIMELINE, events).items;
    for (let cut = 0; cut <= events.length; cut++) {
      const parts = fold(fold(EMPTY_TIMELINE, events.slice(0, cut)), events.slice(cut));
      expect(parts.items).toEqual(whole);
    }
  });

  it("leaves items alone that did not change, so that they are not drawn again", () => {
    const before = fold(EMPTY_TIMELINE, [text(1, "a", "x"), text(2, "b", "y")]);
    const after = fold(before, [text(3, "b", "z")]);
    expect(after.items[0]).toBe(before.items[0]);
    expect(before.items[1]).toMatchObject({ content: [{ text: "y" }] });
    expect(after.items[1]).toMatchObject({ content: [{ text: "yz" }] });
  });

  it("skips what comes a second time after a reconnect", () => {
    const once = fold(EMPTY_TIMELINE, [text(1, "a", "x"), text(2, "a", "y")]);
    expect(fold(once, [text(1, "a", "x"), text(2, "a", "y"), text(3, "a", "z")]).items).toMatchObject([
      { content: [{ text: "xyz" }] },
    ]);
  });
});

const folder = join(import.meta.dirname, "../../../fixtures/chat/fold");
const vectors = readdirSync(folder).filter((name) => name.endsWith(".json"));

describe("the vectors shared with the server", () => {
  it.each(vectors)("%s", (name) => {
    const { events, timeline } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      events: ChatEvent[];
      timeline: unknown;
    };
    // Through JSON: a field that is undefined here is a field that is absent there.
    expect(JSON.parse(JSON.stringify(fold(EMPTY_TIMELINE, events).items))).toEqual(timeline);
  });
});
