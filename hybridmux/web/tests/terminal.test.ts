import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { auth } from "../src/net/link";
import { Acks } from "../src/terminal/acks";
import { TerminalLink } from "../src/terminal/link";
import { isReply, pieces, withCtrl } from "../src/terminal/replies";
import { Sizing, type Size } from "../src/terminal/sizing";
import { FakeSocket } from "./fakeSocket";

const KIB = 1024;

describe("acknowledgements", () => {
  it("come every 256 KiB, and for the rest when asked", () => {
    const acks = new Acks(1000);
    expect(acks.drew(255 * KIB)).toBeNull();
    expect(acks.drew(KIB)).toBe(1000 + 256 * KIB);
    expect(acks.settle()).toBeNull();
    expect(acks.drew(10)).toBeNull();
    expect(acks.settle()).toBe(1010 + 256 * KIB);
  });
});

describe("what a terminal says by itself", () => {
  it.each(["\x1b[?1;2c", "\x1b[>0;276;0c", "\x1b[0n", "\x1b[12;40R", "\x1b[?2026;2$y", "\x1b]10;rgb:ff/ff/ff\x1b\\", "\x1bP>|x\x1b\\", "\x1b[?1;2c\x1b[0n"])("%j", (data) =>
    expect(isReply(data)).toBe(true));
  it.each(["c", "\x1b", "\x1b[A", "\x1bOA", "\x1b[Z", "\x1b[200~[0n\x1b[201~", "\x1b[I", "\x03", "\x1b[<0;1;1M"])("not %j", (data) =>
    expect(isReply(data)).toBe(false));
});

describe("the key bar's Ctrl", () => {
  it("makes control characters of what has one", () => {
    expect(["c", "C", "[", " ", "1", "ab", "é"].map(withCtrl)).toEqual(["\x03", "\x03", "\x1b", "\0", "1", "ab", "é"]);
  });
});

it("input goes in frames of at most 32 KiB", () => {
  expect([...pieces(new Uint8Array(70 * KIB))].map(({ length }) => length / KIB)).toEqual([32, 32, 6]);
});

describe("the terminal's connection", () => {
  const drawn: (() => void)[] = [];
  const screen = { reset: vi.fn(), write: vi.fn((_: Uint8Array, done: () => void) => void drawn.push(done)), resized: vi.fn() };
  const events = { status: vi.fn(), live: vi.fn(), hello: vi.fn(), exit: vi.fn() };
  const hello = (offset: number, change = {}) =>
    FakeSocket.last.text({ type: "hello", cols: 80, rows: 24, epoch: "e1", offset, reset: false, truncated: false, ...change });
  const draw = () => drawn.splice(0).forEach((done) => done());
  let link: TerminalLink;

  beforeEach(() => {
    vi.useFakeTimers();
    vi.clearAllMocks();
    vi.stubGlobal("WebSocket", FakeSocket);
    FakeSocket.all = [];
    drawn.length = 0;
    auth.set("in");
    link = new TerminalLink("s1", screen, events);
    FakeSocket.last.open();
  });
  afterEach(() => {
    link.stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("acknowledges what is drawn, not what has arrived", async () => {
    hello(100);
    FakeSocket.last.bytes(300 * KIB);
    expect(FakeSocket.last.told).toEqual([]);
    draw();
    expect(FakeSocket.last.told).toEqual([{ type: "ack", offset: 100 + 300 * KIB }]);
    FakeSocket.last.bytes(5);
    draw();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(FakeSocket.last.told.at(-1)).toEqual({ type: "ack", offset: 105 + 300 * KIB });
  });

  it("continues from the byte it has and redraws nothing", async () => {
    hello(0, { reset: true });
    FakeSocket.last.bytes(50);
    expect(screen.reset).toHaveBeenCalledTimes(1);
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(FakeSocket.last.query.toString()).toBe("flow=ack&epoch=e1&offset=50");
    FakeSocket.last.open();
    hello(50);
    expect(screen.reset).toHaveBeenCalledTimes(1);
  });

  it("starts over for another PTY", async () => {
    hello(0);
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    FakeSocket.last.open();
    hello(0, { epoch: "e2", reset: true });
    expect(screen.reset).toHaveBeenCalledTimes(2);
  });

  it("starts over in the modes that were set before what is left, which are no part of the offsets", async () => {
    hello(700, { reset: true, truncated: true, modes: "\x1b[?1049h" });
    FakeSocket.last.bytes(5);
    expect(screen.write.mock.calls.map(([data]) => new TextDecoder().decode(data).length)).toEqual([8, 5]);
    const order = [screen.reset, screen.resized, screen.write].map((one) => one.mock.invocationCallOrder[0]!);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    draw();
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(FakeSocket.last.query.get("offset")).toBe("705");
  });

  it("bytes of an earlier connection are not acknowledged on the next", async () => {
    hello(0);
    FakeSocket.last.bytes(300 * KIB);
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    FakeSocket.last.open();
    hello(0, { epoch: "e2", reset: true });
    draw();
    expect(FakeSocket.last.told).toEqual([]);
  });

  it("is live when the scrollback is drawn", () => {
    hello(0);
    FakeSocket.last.bytes(10);
    FakeSocket.last.text({ type: "live" });
    expect(events.live).not.toHaveBeenCalledWith(true);
    draw();
    expect(events.live).toHaveBeenLastCalledWith(true);
  });
});

describe("the size", () => {
  const A = { cols: 100, rows: 40 };
  const B = { cols: 50, rows: 20 };
  const make = (owner: boolean) => {
    const asked: Size[] = [];
    return { asked, sizing: new Sizing(A, owner, (size) => asked.push(size)) };
  };

  it("follows the window that started the session", () => {
    const { asked, sizing } = make(true);
    sizing.told(B);
    expect(asked).toEqual([]); // not before the scrollback is drawn
    sizing.live(true);
    expect(asked).toEqual([A]);
    sizing.told(A);
    expect(sizing.foreign).toBe(false);
  });

  it("is left alone by a window that only looks, until somebody types there", () => {
    const { asked, sizing } = make(false);
    sizing.told(B);
    sizing.live(true);
    expect([asked, sizing.foreign]).toEqual([[], true]);
    sizing.claim();
    expect(asked).toEqual([A]);
    sizing.told(A);
    expect(sizing.foreign).toBe(false);
  });

  it("goes to the other device that typed, without a fight", () => {
    const { asked, sizing } = make(true);
    sizing.told(A);
    sizing.live(true);
    sizing.told(B);
    expect(sizing.foreign).toBe(true);
    sizing.measured({ cols: 90, rows: 40 });
    expect(asked).toEqual([]);
  });

  it("takes one question at a time while the window is dragged", () => {
    const { asked, sizing } = make(true);
    sizing.told(A);
    sizing.live(true);
    for (const cols of [101, 102, 103]) sizing.measured({ cols, rows: 40 });
    expect(asked.map(({ cols }) => cols)).toEqual([101]);
    sizing.told({ cols: 101, rows: 40 });
    expect(asked.map(({ cols }) => cols)).toEqual([101, 103]);
    expect(sizing.foreign).toBe(false);
  });

  it("waits for its own answer when another device's comes first", () => {
    const { asked, sizing } = make(false);
    sizing.told(B);
    sizing.live(true);
    sizing.claim();
    sizing.told({ cols: 70, rows: 30 });
    sizing.told(A);
    expect([asked, sizing.foreign]).toEqual([[A], false]);
  });

  it("is asked for again after a reconnect", () => {
    const { asked, sizing } = make(true);
    sizing.told(B);
    sizing.live(true);
    sizing.live(false);
    sizing.told(B);
    sizing.live(true);
    expect(asked).toEqual([A, A]);
  });
});
