import { expect, heldAnswer, log, prompt, rows, sessions, side, test, type } from "./base";

const DEVICES = [
  { name: "desktop", viewport: { width: 1280, height: 800 }, hasTouch: false },
  { name: "phone", viewport: { width: 390, height: 844 }, hasTouch: true },
];

for (const { name, viewport, hasTouch } of DEVICES) {
  test.describe(name, () => {
    test.use({ viewport, hasTouch, isMobile: hasTouch });

    test("one conversation goes round and keeps its ids", async ({ page, server, picture }) => {
      await page.goto(server.link);
      await expect(page.getByRole("heading", { name: "Running" })).toBeVisible();
      expect(page.url()).not.toContain("token");

      await test.step("start in the terminal", async () => {
        await page.getByRole("button", { name: "Start Demo agent in terminal" }).click();
        await expect(side(page, "Terminal")).toBeChecked();
        await expect(rows(page)).toContainText("demo");
        await type(page, "hello one");
        await expect(rows(page)).toContainText("echo: hello one");
        await picture("terminal");
      });

      await test.step("move to the chat", async () => {
        await side(page, "Chat").click();
        await expect(side(page, "Chat")).toBeChecked();
        await expect(log(page)).toContainText("echo: hello one");
        await expect(log(page).getByRole("article", { name: "You" })).toHaveText(["hello one"]);
      });
      const before = (await sessions(page))[0]!;
      expect(before.hybrid?.agentSessionId).toBeTruthy();

      await test.step("prompt", async () => {
        await prompt(page, "hello two");
        await expect(log(page)).toContainText("echo: hello two");
        await expect(log(page).getByRole("article", { name: "You" })).toHaveText(["hello one", "hello two"]);
      });

      await test.step("answer a permission request with a key", async () => {
        await page.getByLabel("Permissions").selectOption("ask");
        const acknowledge = await heldAnswer(page, "**/prompts");
        await prompt(page, "run: echo hi there");
        const card = page.getByRole("group", { name: /The agent asks/ });
        await expect(card).toBeVisible();
        await picture("permission");
        await expect(log(page).getByLabel("Output")).toHaveCount(0);
        const yes = card.getByRole("button", { name: "Yes, once" });
        await expect(yes).toHaveAttribute("aria-keyshortcuts", "1");
        if (hasTouch) await yes.tap();
        else await page.keyboard.press("1");
        await expect(card).toBeHidden();
        await expect(log(page).getByLabel("Output")).toHaveText("hi there");
        acknowledge();
      });

      await test.step("a reload in the middle of a turn loses nothing", async () => {
        await prompt(page, "slow 30");
        await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
        await page.reload();
        await expect(log(page).getByRole("article", { name: "You" })).toHaveText(["hello one", "hello two", "run: echo hi there", "slow 30"]);
        await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
      });

      await test.step("queue, then cancel", async () => {
        await prompt(page, "for later");
        await expect(page.getByText("1 queued")).toBeVisible();
        await picture("chat");
        await page.getByRole("button", { name: "Stop" }).click();
        await expect(log(page)).toContainText("cancelled");
        await expect(page.getByText("Paused")).toBeVisible();
      });

      await test.step("move back: the queue returns as a draft", async () => {
        await side(page, "Terminal").click();
        await expect(side(page, "Terminal")).toBeChecked();
        await expect(page.locator(".leftovers pre")).toHaveText("for later");
        await expect(rows(page)).toContainText("echo: hello one");
        await expect(rows(page)).toContainText("echo: hello two");
        await picture("back");
        await page.getByRole("button", { name: "Dismiss" }).click();
      });
      const after = (await sessions(page))[0]!;
      expect(after.id).toBe(before.id);
      expect(after.hybrid?.agentSessionId).toBe(before.hybrid?.agentSessionId);

      await test.step("close and resume", async () => {
        await page.getByRole("button", { name: "Close session" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Close session" }).click();
        await expect(page.getByRole("heading", { name: "Can be resumed" })).toBeVisible();
        await picture("home");
        await page.getByRole("button", { name: /^Resume/ }).click();
        await expect(rows(page)).toContainText("echo: hello two");
        const resumed = (await sessions(page))[0]!;
        expect(resumed.id).toBe(before.id);
        expect(resumed.hybrid?.agentSessionId).toBe(before.hybrid?.agentSessionId);
      });
    });
  });
}
