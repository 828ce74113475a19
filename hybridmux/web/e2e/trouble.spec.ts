/** Switches that do not go well: the page asks, or says what happened and where the session is now. */
import { addConfig, expect, log, prompt, rows, side, test, type } from "./base";

const DEMO = ["hybridmux-demo", "tui"];

test.describe("a turn that ignores the interrupt", () => {
  test.use({ budgets: { interrupting: 1 } });

  test("is asked about: stay leaves the terminal as it was, force moves", async ({ page, server, complaints, picture }) => {
    complaints.expected.push(/status of (409|502)/);
    await page.goto(server.link);
    await page.getByRole("button", { name: "Start Demo agent in terminal" }).click();
    await type(page, "hello one");
    await expect(rows(page)).toContainText("echo: hello one");
    await type(page, "hang");
    await expect(page.getByRole("img", { name: "working" })).toBeVisible();

    await side(page, "Chat").click();
    await expect(page.getByText("interrupting the turn")).toBeVisible();
    const dialog = page.getByRole("dialog", { name: "The turn does not stop" });
    await expect(dialog).toBeVisible();
    await picture("choice");
    await dialog.getByRole("button", { name: "Stay in the terminal" }).click();
    await expect(dialog).toBeHidden();
    await expect(side(page, "Terminal")).toBeChecked();
    await expect(rows(page)).toContainText("echo: hello one");

    await side(page, "Chat").click();
    await expect(dialog).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await page.getByRole("button", { name: "Decide…" }).click();
    await dialog.getByRole("button", { name: "Force the switch" }).click();
    await expect(side(page, "Chat")).toBeChecked();
    await expect(log(page)).toContainText("echo: hello one");
    await prompt(page, "hello two");
    await expect(log(page)).toContainText("echo: hello two");
  });
});

test("a connector that dies while loading: the terminal is back, and the banner says why", async ({ page, server, complaints, picture }) => {
  complaints.expected.push(/status of 502/);
  await page.goto(server.link);
  await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
  expect(await addConfig(page, "Breaks", DEMO, "acp.load:exit")).toBe(201);
  await page.reload();
  await page.getByRole("button", { name: "Start Breaks in terminal" }).click();
  await type(page, "hello one");
  await expect(rows(page)).toContainText("echo: hello one");
  await side(page, "Chat").click();
  const banner = page.getByRole("alert");
  await expect(banner).toContainText("Could not move to the chat.");
  await expect(banner).toContainText("71");
  await expect(banner).toContainText("on the terminal side, as before");
  await expect(side(page, "Terminal")).toBeChecked();
  await expect(rows(page)).toContainText("echo: hello one");
  await picture("failure");
  await type(page, "hello again");
  await expect(rows(page)).toContainText("echo: hello again");
});

test("an agent that ends at once: the start says so", async ({ page, server, complaints }) => {
  complaints.expected.push(/status of (409|502)/);
  await page.goto(server.link);
  await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
  expect(await addConfig(page, "Nothing", DEMO, "acp.initialize:exit")).toBe(201);
  await page.reload();
  await page.getByRole("button", { name: "Start Nothing in chat" }).click();
  await expect(page.getByRole("alert")).toContainText("Could not start.");
  await expect(page.getByRole("alert")).toContainText("71");
  await expect(page.getByText("Nothing runs yet.")).toBeVisible();
});
