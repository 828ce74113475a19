import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ChatChannel } from "../src/chat/channel";
import { auth } from "../src/net/link";
import type { ChatEvent } from "../src/wire/types";
import { FakeSocket } from "./fakeSocket";
import { chatState } from "./samples";

const at = "2026-01-01T10:00:00.000Z";
const notice = (seq: number): ChatEvent => ({ seq, at, type: "notice", level: "info", code: "x", text: String(seq) });
const snapshot = (generation: string, change = {}) =>
  FakeSocket.last.text({ type: "snapshot", state: chatState(), generation, from: 1, next: 9, ...change });
const events = (generation: string, ...items: ChatEvent[]) =>
  FakeSocket.last.text({ type: "events", generation, from: items[0]?.seq ?? 1, items });
const texts = (channel: ChatChannel) => channel.view.get().timeline.items.map((item) => ("text" in item ? item.text : ""));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "requestAnimationFrame", "cancelAnimationFrame"] });
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.all = [];
  auth.set("in");
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the chat channel", () => {
  it("applies a burst of frames at once", async () => {
    const channel = new ChatChannel("s1");
    const told = vi.fn();
    FakeSocket.last.open();
    channel.view.subscribe(told);
    snapshot("g1");
    for (let seq = 1; seq <= 50; seq++) events("g1", notice(seq));
    await vi.advanceTimersByTimeAsync(20);
    expect(texts(channel)).toHaveLength(50);
    expect(told).toHaveBeenCalledTimes(1);
    channel.stop();
  });

  it("continues behind the last event it has, also one that is not drawn yet", async () => {
    const channel = new ChatChannel("s1");
    expect(FakeSocket.last.query.toString()).toBe("");
    FakeSocket.last.open();
    snapshot("g1");
    events("g1", notice(1), notice(2));
    FakeSocket.last.end(4408);
    await vi.advanceTimersByTimeAsync(0);
    expect(FakeSocket.last.query.toString()).toBe("generation=g1&seq=2");
    FakeSocket.last.open();
    snapshot("g1");
    events("g1", notice(2), notice(3));
    await vi.advanceTimersByTimeAsync(20);
    expect(texts(channel)).toEqual(["1", "2", "3"]);
    channel.stop();
  });

  it("drops the timeline for a new generation", async () => {
    const channel = new ChatChannel("s1");
    FakeSocket.last.open();
    snapshot("g1");
    events("g1", notice(1), notice(2), notice(3));
    FakeSocket.last.end(1013);
    await vi.advanceTimersByTimeAsync(0);
    FakeSocket.last.open();
    snapshot("g2", { reset: true });
    events("g2", notice(1));
    await vi.advanceTimersByTimeAsync(20);
    expect(texts(channel)).toEqual(["1"]);
    expect(channel.view.get().generation).toBe("g2");
    channel.stop();
  });

  it("replaces the state whole", async () => {
    const channel = new ChatChannel("s1");
    FakeSocket.last.open();
    snapshot("g1");
    FakeSocket.last.text({ type: "state", state: chatState({ dormant: true }) });
    await vi.advanceTimersByTimeAsync(20);
    expect(channel.view.get().state?.dormant).toBe(true);
    channel.stop();
  });
});
