/** The page's budgets: what it loads first, and how long ten thousand events take. */
import { gzipSync } from "node:zlib";
import type { ChatEvent } from "../src/wire/types";
import { expect, log, side, test } from "./base";

const LOAD_BYTES = 350 * 1024;
const PAINT_MS = 1_000;
const at = "2026-01-01T10:00:00.000Z";

function conversation(count: number): ChatEvent[] {
  return Array.from({ length: count }, (_, index): ChatEvent => {
    const seq = index + 1;
    const text = `Part **${seq}** of a \`long\` conversation\n\n- one\n- two\n`;
    if (seq % 5 === 0) return { seq, at, type: "tool.upsert", toolCallId: `t${seq}`, title: `tool ${seq}`, kind: "execute", status: "completed", output: { text } };
    return { seq, at, type: "message.append", messageId: `m${seq}`, role: seq % 2 ? "user" : "agent", content: { type: "text", text } };
  });
}

test("first load stays below 350 KiB before the terminal's chunk", async ({ page, server }) => {
  const scripts: string[] = [];
  page.on("response", (response) => {
    if (/\.(js|css)$/.test(response.url())) scripts.push(response.url());
  });
  await page.goto(server.link);
  await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
  const sizes = await Promise.all(
    scripts.map(async (url) => {
      const body = await (await page.request.get(url)).body();
      return gzipSync(body).length;
    }),
  );
  expect(scripts.filter((url) => url.includes("controller"))).toEqual([]);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LOAD_BYTES);
});

test("ten thousand events are painted within a second, few of them as elements", async ({ page, server }) => {
  await page.goto(server.link);
  await page.getByRole("button", { name: "Start Demo agent in chat" }).click();
  await expect(side(page, "Chat")).toBeChecked();
  await page.routeWebSocket(/\/chat/, (socket) => {
    const upstream = socket.connectToServer();
    upstream.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { type: string; generation: string; state: unknown };
      if (frame.type !== "snapshot") return;
      socket.send(JSON.stringify({ ...frame, from: 1, next: 10_001 }));
      socket.send(JSON.stringify({ type: "events", generation: frame.generation, from: 1, items: conversation(10_000) }));
    });
  });
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      const state = window as unknown as { arrived?: number; painted?: number };
      if (!state.arrived || state.painted || !document.querySelector(".timeline")?.textContent?.includes("tool 10000")) return;
      requestAnimationFrame(() => setTimeout(() => (state.painted = performance.now())));
    });
    document.addEventListener("DOMContentLoaded", () => seen.observe(document.body, { childList: true, subtree: true }));
    const parse = JSON.parse;
    JSON.parse = (text: string) => {
      const state = window as unknown as { arrived?: number };
      if (text.length > 500_000) state.arrived ??= performance.now();
      return parse(text) as unknown;
    };
  });
  await page.reload();
  await expect(log(page)).toContainText("tool 10000");
  const took = await page.waitForFunction(() => {
    const { arrived, painted } = window as unknown as { arrived?: number; painted?: number };
    return arrived && painted && painted - arrived;
  });
  const ms = (await took.jsonValue())!;
  console.log(`10,000 events: ${Math.round(ms)} ms to paint`);
  expect(ms).toBeLessThan(PAINT_MS);
  expect(await log(page).locator("article").count()).toBeLessThan(400);

  await test.step("scrolling up brings the rest, and what one reads stays where it is", async () => {
    await log(page).evaluate((box) => (box.scrollTop = 0));
    await expect(log(page).locator("article").first()).not.toContainText("9880");
    await expect.poll(() => log(page).evaluate((box) => box.scrollTop)).toBeGreaterThan(200);
    await page.getByRole("button", { name: "Newest" }).click();
    await expect(log(page).getByText("tool 10000")).toBeInViewport();
  });
});
