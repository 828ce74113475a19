import { render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Home } from "../src/home/Home";

function answers(bodies: Record<string, [number, unknown]>): void {
  vi.stubGlobal("fetch", async (path: string) => {
    const [status, body] = bodies[path] ?? [404, { error: "no such path" }];
    return new Response(JSON.stringify(body), { status });
  });
}

afterEach(() => vi.unstubAllGlobals());

test("a store that cannot be used is said with its path, and the other one is shown", async () => {
  const error = "/data/hybrid-sessions.json cannot be used: it is not of version 1.";
  answers({
    "/api/hybrid-sessions": [503, { error, path: "/data/hybrid-sessions.json" }],
    "/api/launch-configs": [200, [{ id: "c1", name: "Demo agent", cmd: ["demo"], cwd: "/", env: {}, hybrid: true }]],
  });
  render(<Home />);
  expect((await screen.findByRole("alert")).textContent).toContain(error);
  expect(await screen.findByText("Demo agent")).toBeTruthy();
});

test("launch configs that cannot be read are no empty list", async () => {
  answers({
    "/api/hybrid-sessions": [200, []],
    "/api/launch-configs": [503, { error: "/data/launch-configs.json cannot be used.", path: "/data/launch-configs.json" }],
  });
  render(<Home />);
  expect((await screen.findByRole("alert")).textContent).toContain("/data/launch-configs.json");
});
