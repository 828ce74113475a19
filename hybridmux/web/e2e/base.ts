import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test as base, type Locator, type Page, type Route } from "@playwright/test";
import type { SessionInfo } from "../src/wire/types";
import { Server } from "./server";

export { expect };

const pictures = process.env.E2E_SCREENSHOTS;

/** What a clean run never says: script errors, console errors and anything against the content security policy. */
class Complaints {
  readonly lines: string[] = [];
  /** Complaints that a test causes on purpose, such as a server that is not there. */
  readonly expected: RegExp[] = [];

  async watch(page: Page): Promise<void> {
    page.on("pageerror", (error) => this.lines.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || /content security policy/i.test(message.text())) this.lines.push(`console: ${message.text()}`);
    });
    await page.exposeFunction("reportViolation", (what: string) => this.lines.push(`csp: ${what}`));
    await page.addInitScript(() => {
      localStorage.setItem("hybridmux.renderer", "dom"); // so that the terminal's text can be read
      document.addEventListener("securitypolicyviolation", (event) => {
        void (window as unknown as { reportViolation: (what: string) => void }).reportViolation(`${event.violatedDirective} ${event.blockedURI}`);
      });
    });
  }

  get unexpected(): string[] {
    return this.lines.filter((line) => !this.expected.some((pattern) => pattern.test(line)));
  }
}

interface Fixtures {
  /** Deadlines of the server, shorter where a test waits for one. */
  budgets: Record<string, number>;
  server: Server;
  complaints: Complaints;
  /** A picture for the README, when E2E_SCREENSHOTS names a folder; in both colour schemes. */
  picture: (name: string) => Promise<void>;
}

export const test = base.extend<Fixtures>({
  budgets: [{}, { option: true }],
  server: async ({ budgets }, use, info) => {
    const server = new Server(budgets);
    await server.start();
    await use(server);
    if (info.status !== info.expectedStatus) console.log(server.said.join("\n"));
    await server.remove();
  },
  complaints: [
    // The server is named so that it outlives the checking: a server that stops makes complaints.
    async ({ page, server: _ }, use) => {
      const complaints = new Complaints();
      await complaints.watch(page);
      await use(complaints);
      expect(complaints.unexpected).toEqual([]);
    },
    { auto: true },
  ],
  picture: async ({ page }, use) => {
    await use(async (name) => {
      if (!pictures) return;
      mkdirSync(pictures, { recursive: true });
      const width = page.viewportSize()!.width < 640 ? "phone" : "desktop";
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`) });
      }
    });
  },
});

export const rows = (page: Page): Locator => page.locator(".xterm-rows");
export const side = (page: Page, name: "Terminal" | "Chat"): Locator => page.getByRole("radio", { name });
export const log = (page: Page): Locator => page.getByRole("log");

/** A launch config of the demo agent that breaks in a given way. */
export const addConfig = (page: Page, name: string, cmd: string[], fault?: string): Promise<number> =>
  page.evaluate(
    async ([name, cmd, fault]) => {
      const env = fault ? { HYBRIDMUX_DEMO_FAULT: fault } : {};
      const body = JSON.stringify({ name, cmd, env, hybrid: fault !== undefined });
      const headers = { "Content-Type": "application/json" };
      return (await fetch("/api/launch-configs", { method: "POST", headers, body })).status;
    },
    [name, cmd, fault] as const,
  );

/** The sessions as the server tells them, read by the page itself with its cookie. */
export const sessions = (page: Page): Promise<SessionInfo[]> =>
  page.evaluate(async () => (await (await fetch("/api/sessions")).json()) as SessionInfo[]);

/** Types into the terminal as a person does: when the agent says that it is ready. */
export async function type(page: Page, text: string): Promise<void> {
  // A program that is not up yet gets what is typed in another form (cooked mode turns Enter into a newline).
  await expect(rows(page)).toContainText("ready");
  await expect(page.locator(".xterm-helper-textarea")).toBeFocused();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

export async function prompt(page: Page, text: string): Promise<void> {
  const field = page.getByLabel("Message", { exact: true });
  await field.fill(text);
  // With a touch keyboard Enter is a new line.
  if (await page.evaluate(() => matchMedia("(pointer: coarse)").matches)) await page.getByRole("button", { name: /^(Send|Queue)$/ }).tap();
  else await field.press("Enter");
}

/** Holds back the server's answer to the next request of this address: what the request causes is seen before its answer. */
export async function heldAnswer(page: Page, url: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => void (release = resolve));
  const hold = async (route: Route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  };
  await page.route(url, hold, { times: 1 });
  return release;
}
