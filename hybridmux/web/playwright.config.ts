import { defineConfig } from "@playwright/test";

// Debian's Chromium: nothing is downloaded. Run as root it needs --no-sandbox.
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export default defineConfig({
  testDir: "e2e",
  outputDir: process.env.E2E_OUTPUT ?? "test-results",
  timeout: 90_000,
  expect: { timeout: 15_000 },
  workers: 1,
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args },
    trace: "retain-on-failure",
  },
});
