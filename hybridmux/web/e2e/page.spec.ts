import axe from "axe-core";
import type { Page } from "@playwright/test";
import { expect, log, prompt, rows, side, test, type } from "./base";

const startIn = (page: Page, where: "terminal" | "chat") => page.getByRole("button", { name: `Start Demo agent in ${where}` });

test("without a token the page asks for it; a wrong one is refused, a whole link is taken", async ({ page, server, complaints }) => {
  complaints.expected.push(/status of 401/);
  await page.goto(new URL("/", server.link).href);
  const field = page.getByLabel("Token");
  await field.fill("wrong");
  await field.press("Enter");
  await expect(page.getByRole("alert")).toContainText("not this server's");
  await field.fill(server.link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
});

test("Home is worked by keys", async ({ page, server }) => {
  await page.goto(server.link);
  await expect(startIn(page, "terminal")).toBeVisible();
  await page.keyboard.press("n");
  await expect(startIn(page, "terminal")).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(side(page, "Chat")).toBeChecked();
  await page.getByRole("link", { name: "All sessions" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "demo" }).first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(side(page, "Chat")).toBeChecked();
});

test("two windows see the same session; the one that typed gives the terminal its size", async ({ page, server, browser, complaints }) => {
  await page.goto(server.link);
  await startIn(page, "terminal").click();
  await type(page, "hello both");
  const small = await (await browser.newContext({ viewport: { width: 700, height: 500 } })).newPage();
  await complaints.watch(small);
  await small.goto(server.link);
  await small.getByRole("link", { name: /demo/ }).click();
  await expect(rows(small)).toContainText("echo: hello both");
  await expect(small.getByText(/by another device/)).toBeVisible();
  await expect(page.getByText(/by another device/)).toBeHidden();
  await type(small, "hello small");
  await expect(small.getByText(/by another device/)).toBeHidden();
  await expect(page.getByText(/by another device/)).toBeVisible();
  await expect(rows(page)).toContainText("echo: hello small");

  await small.getByRole("radio", { name: "Chat" }).click();
  await expect(log(page)).toContainText("echo: hello small");
  await page.getByLabel("Permissions").selectOption("ask");
  await prompt(small, "run: echo once");
  for (const window of [page, small]) await expect(window.getByRole("group", { name: /The agent asks/ })).toBeVisible();
  await page.getByRole("button", { name: "Yes, once" }).click();
  for (const window of [page, small]) {
    await expect(window.getByRole("group", { name: /The agent asks/ })).toBeHidden();
    await expect(log(window).getByLabel("Output")).toHaveText("once");
  }
  await small.context().close();
});

test("the page outlives a restart of the server", async ({ page, server, complaints }) => {
  complaints.expected.push(/net::ERR_|WebSocket/);
  await page.goto(server.link);
  await startIn(page, "chat").click();
  await prompt(page, "hello before");
  await expect(log(page)).toContainText("echo: hello before");
  await server.stop("SIGKILL");
  await expect(page.getByText("Offline. Trying again…")).toBeVisible();
  await server.start();
  await expect(page.getByText("Offline. Trying again…")).toBeHidden();
  await expect(page.getByText("This session has ended.")).toBeVisible();
  await page.getByRole("button", { name: /^Resume/ }).click();
  await expect(log(page)).toContainText("echo: hello before");
  await prompt(page, "hello after");
  await expect(log(page)).toContainText("echo: hello after");
});

test("a file of hostile names and markup stays text", async ({ page, server }) => {
  await page.goto(server.link);
  await startIn(page, "chat").click();
  await prompt(page, '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) **bold**');
  await expect(log(page).getByRole("article", { name: "Agent" }).locator("strong")).toHaveText("bold");
  await expect(log(page).locator("img, a[href^=javascript]")).toHaveCount(0);
});

test("every kind of item, without serious accessibility faults", async ({ page, server, picture }) => {
  await page.goto(server.link);
  await faultless(page, "home");
  await startIn(page, "chat").click();
  for (const words of ["think: is this the right way", "plan", "diff", "usage"]) {
    await prompt(page, words);
    await expect(page.getByRole("button", { name: "Send" })).toBeVisible();
    await expect(log(page).getByRole("article", { name: "You" }).last()).toHaveText(words);
    await expect(page.getByText("Working…")).toBeHidden();
  }
  await picture("items");
  await prompt(page, "ask");
  await expect(page.getByRole("form")).toBeVisible();
  await picture("form");
  await faultless(page, "chat");
  await page.getByRole("form").getByRole("button", { name: "Decline" }).click();
  await expect(page.getByRole("form")).toBeHidden();
  await page.getByRole("link", { name: "All sessions" }).click();
  await startIn(page, "terminal").click();
  await expect(rows(page)).toContainText("demo");
  await faultless(page, "terminal");
  await page.getByRole("link", { name: "All sessions" }).click();
  await expect(page.getByRole("link", { name: /demo/ })).toHaveCount(2);
  await picture("running");
});

/** No fault that axe calls serious or critical, in either colour scheme. */
async function faultless(page: Page, where: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const faults = await page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run();
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
    });
    expect(faults, `${where}, ${colorScheme}`).toEqual([]);
  }
}
