import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, command } from "../src/net/api";
import { requestId } from "../src/net/ids";

const answer = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
const bodies = () => answer.mock.calls.map(([, init]) => JSON.parse(init.body as string) as { clientRequestId: string });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", answer);
  answer.mockReset();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("commands", () => {
  it("have ids that the server takes", () => {
    const ids = Array.from({ length: 50 }, requestId);
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{8,64}$/);
  });

  it("are repeated under the same id when no answer came", async () => {
    answer.mockRejectedValueOnce(new TypeError("network"));
    answer.mockResolvedValueOnce(new Response('{"queued":false}', { status: 200 }));
    const sent = command("POST", "/api/x", { text: "hello" });
    await vi.runAllTimersAsync();
    expect(await sent).toEqual({ queued: false });
    const [first, second] = bodies();
    expect(second).toEqual(first);
  });

  it("are repeated when the answer broke off", async () => {
    const broken = new ReadableStream({ start: (body) => body.error(new TypeError("network")) });
    answer.mockResolvedValueOnce(new Response(broken, { status: 200 }));
    answer.mockResolvedValueOnce(new Response('{"queued":true}', { status: 200 }));
    const sent = command("POST", "/api/x", { text: "hello" });
    await vi.runAllTimersAsync();
    expect(await sent).toEqual({ queued: true });
    expect(answer).toHaveBeenCalledTimes(2);
  });

  it("are not repeated after an answer, and say what the server said", async () => {
    answer.mockResolvedValue(new Response('{"error":"busy","reason":"switching"}', { status: 409 }));
    const error = await command("POST", "/api/x").catch((raised: unknown) => raised);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 409, reason: "switching", message: "busy" });
    expect(answer).toHaveBeenCalledTimes(1);
  });

  it("give up in the end, saying that nothing answered", async () => {
    answer.mockRejectedValue(new TypeError("network"));
    const sent = command("POST", "/api/x").catch((raised: unknown) => raised);
    await vi.runAllTimersAsync();
    expect(await sent).toMatchObject({ status: 0 });
    expect(answer).toHaveBeenCalledTimes(4);
  });
});
