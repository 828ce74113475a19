import { describe, expect, it } from "vitest";
import { afterClose, backoff } from "../src/net/backoff";

describe("backoff", () => {
  it("is immediate first, then grows to a limit, half of it random", () => {
    expect(backoff(0)).toBe(0);
    expect([1, 2, 3, 4, 5, 6, 20].map((n) => backoff(n, () => 0))).toEqual([250, 500, 1000, 2000, 4000, 7500, 7500]);
    expect(backoff(3, () => 1)).toBe(2000);
  });
});

describe("close codes", () => {
  it.each([
    [4404, { do: "leave", why: "missing" }],
    [4410, { do: "leave", why: "ended" }],
    [4409, { do: "moved" }],
    [4408, { do: "resume", delay: 0 }],
    [1013, { do: "resume", delay: 0 }],
    [1006, { do: "retry", delay: 0 }],
    [1001, { do: "retry", delay: 0 }],
  ])("%i", (code, what) => {
    expect(afterClose(code, 0)).toEqual(what);
  });

  it("a server that keeps closing is not asked in a loop", () => {
    expect(afterClose(1013, 4, () => 0)).toEqual({ do: "resume", delay: 2000 });
  });
});
