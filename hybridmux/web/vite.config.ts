import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.HYBRIDMUX ?? "http://127.0.0.1:8787";

export default defineConfig({
  base: "/",
  plugins: [react()],
  build: {
    outDir: "static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/api": server, "/ws": { target: server, ws: true } } },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"], setupFiles: ["tests/setup.ts"] },
});
