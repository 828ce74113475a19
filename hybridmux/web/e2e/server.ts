import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "../../..");
const program = process.env.HYBRIDMUX_BIN ?? join(root, ".venv/bin/hybridmux");

/** A real server with a data folder of its own. */
export class Server {
  readonly data = mkdtempSync(join(tmpdir(), "hybridmux-e2e-"));
  #child: ChildProcess | null = null;
  link = "";
  /** What it wrote to stderr. */
  readonly said: string[] = [];

  /** `budgets` are those of hybridmux/budgets.py. */
  constructor(private readonly budgets: Record<string, number> = {}) {}

  /** Starts it, again on the port it had. */
  async start(): Promise<void> {
    const port = this.link ? new URL(this.link).port : "0";
    const config = join(this.data, "e2e.toml");
    writeFileSync(config, ["[budgets]", ...Object.entries(this.budgets).map(([name, value]) => `${name} = ${value}`)].join("\n"));
    // The demo agent's store goes with the server's data; the person's own stays as it is.
    const env = { ...process.env, HYBRIDMUX_DEMO_HOME: join(this.data, "demo") };
    const child = spawn(program, ["serve", "--config", config, "--port", port, "--data", this.data], { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    createInterface({ input: child.stderr }).on("line", (line) => this.said.push(line));
    for await (const line of createInterface({ input: child.stdout })) {
      const link = /^hybridmux ready: (\S+)$/.exec(line)?.[1];
      if (!link) continue;
      this.link = link;
      child.stdout.resume();
      return;
    }
    throw new Error(`the server did not start:\n${this.said.join("\n")}`);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.data, { recursive: true, force: true });
  }
}
