import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { start, takeToken, tokenIn } from "../src/net/auth";
import { auth, offline } from "../src/net/link";

const answer = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
const status = (code: number) => new Response(code === 204 ? null : "{}", { status: code });

beforeEach(() => {
  vi.stubGlobal("fetch", answer);
  answer.mockReset();
  auth.set("unknown");
  offline.set(false);
  history.replaceState(null, "", "/");
});
afterEach(() => vi.unstubAllGlobals());

describe("the token of a start-up link", () => {
  it("is found in the fragment only", () => {
    expect(tokenIn("#token=abc_-1")).toBe("abc_-1");
    expect(tokenIn("#/s/abc")).toBeNull();
    expect(tokenIn("token=abc")).toBeNull();
    expect(tokenIn("#token=")).toBeNull();
  });

  it("leaves the address when it is taken", () => {
    history.replaceState(null, "", "/?x=1#token=secret");
    expect(takeToken()).toBe("secret");
    expect(location.href).not.toContain("secret");
    expect(location.search).toBe("?x=1");
  });

  it("is sent in the body and nowhere else", async () => {
    history.replaceState(null, "", "/#token=secret");
    answer.mockResolvedValue(status(204));
    await start();
    expect(answer.mock.calls.map(([path]) => path)).toEqual(["/api/login"]);
    expect(answer.mock.calls[0]![1].body).toBe('{"token":"secret"}');
    expect(auth.get()).toBe("in");
  });

  it("that is stale still gets in with a good cookie", async () => {
    history.replaceState(null, "", "/#token=old");
    answer.mockImplementation(async (path) => status(path === "/api/login" ? 401 : 200));
    await start();
    expect(auth.get()).toBe("in");
  });
});

describe("without a token", () => {
  it("a 401 asks for one", async () => {
    answer.mockResolvedValue(status(401));
    await start();
    expect(auth.get()).toBe("out");
  });

  it("no answer leaves it open and shows offline", async () => {
    answer.mockRejectedValue(new TypeError("network"));
    await start();
    expect(auth.get()).toBe("unknown");
    expect(offline.get()).toBe(true);
  });
});
