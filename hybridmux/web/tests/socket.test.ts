import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { auth, offline } from "../src/net/link";
import { Socket, type SocketStatus } from "../src/net/socket";
import { FakeSocket } from "./fakeSocket";

let position = 0;
let seen: SocketStatus[] = [];
const answer = vi.fn<() => Promise<Response>>();
const make = () => new Socket({ url: () => `/ws/x?at=${position}`, onText: () => {}, onStatus: (status) => seen.push(status) });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("fetch", answer);
  answer.mockReset();
  FakeSocket.all = [];
  [position, seen] = [0, []];
  auth.set("in");
  offline.set(false);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("Socket", () => {
  it("comes back at once after a drop, from the position it has then", async () => {
    const socket = make();
    FakeSocket.last.open();
    position = 7;
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(FakeSocket.all).toHaveLength(2);
    expect(FakeSocket.last.query.get("at")).toBe("7");
    expect(answer).not.toHaveBeenCalled();
    socket.stop();
  });

  it.each([[4404, "missing"], [4410, "ended"]])("stays away after %i", async (code, status) => {
    const socket = make();
    FakeSocket.last.open();
    FakeSocket.last.end(code);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(socket.status).toBe(status);
    socket.stop();
  });

  it("waits longer after 4409, for the session to come back", async () => {
    const socket = make();
    FakeSocket.last.open();
    FakeSocket.last.end(4409);
    expect(socket.status).toBe("moved");
    await vi.advanceTimersByTimeAsync(1_400);
    expect(FakeSocket.all).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(FakeSocket.all).toHaveLength(2);
    socket.stop();
  });

  it("asks once with a plain request when an upgrade fails; a 401 ends the trying", async () => {
    answer.mockResolvedValue(new Response('{"error":"no"}', { status: 401 }));
    const socket = make();
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(answer).toHaveBeenCalledTimes(1);
    expect(auth.get()).toBe("out");
    expect(FakeSocket.all).toHaveLength(1);
    socket.stop();
  });

  it("is offline while nothing answers, and tries on", async () => {
    answer.mockRejectedValue(new TypeError("network"));
    const socket = make();
    FakeSocket.last.end(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(offline.get()).toBe(true);
    FakeSocket.last.open();
    expect(offline.get()).toBe(false);
    expect(seen).toContain("waiting");
    socket.stop();
  });

  it("does not wait out a backoff when the network comes back", async () => {
    answer.mockRejectedValue(new TypeError("network"));
    const socket = make();
    for (let i = 0; i < 6; i++) {
      FakeSocket.last.end(1006);
      await vi.advanceTimersByTimeAsync(i < 5 ? 20_000 : 0);
    }
    const before = FakeSocket.all.length;
    window.dispatchEvent(new Event("online"));
    expect(FakeSocket.all).toHaveLength(before + 1);
    socket.stop();
  });

  it("leaves nothing behind when it is stopped while it asks", async () => {
    let refuse = (_: Error) => {};
    answer.mockReturnValue(new Promise((_, no) => (refuse = no)));
    const socket = make();
    FakeSocket.last.end(1006);
    socket.stop();
    refuse(new TypeError("network"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(1);
  });
});
