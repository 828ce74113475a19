/** Wire objects with ordinary values, to be changed by the tests. */
import type { ChatState, HybridInfo, HybridRecord, SessionInfo } from "../src/wire/types";

export const hybrid = (change: Partial<HybridInfo> = {}): HybridInfo => ({
  side: "tui", dormant: false, state: "active", agent: "demo", agentSessionId: "d-1", ...change,
});

export const session = (id: string, change: Partial<SessionInfo> = {}): SessionInfo => ({
  id, name: `name ${id}`, title: "", cmd: ["demo"], cwd: "/root/work", createdAt: "2026-01-01T10:00:00.000Z",
  updatedAt: "2026-01-01T10:00:00.000Z", status: "idle", attention: null, preview: "", cols: 80, rows: 24, ...change,
});

export const record = (id: string, change: Partial<HybridRecord> = {}): HybridRecord => ({
  id, name: `name ${id}`, title: "", configId: "c", configMissing: false, agent: "demo", cwd: "/root/work", cmd: ["demo"],
  side: "tui", agentSessionId: "d-1", agentSessionHistory: [], state: "closed",
  createdAt: "2026-01-01T10:00:00.000Z", updatedAt: "2026-01-01T10:00:00.000Z", ...change,
});

export const chatState = (change: Partial<ChatState> = {}): ChatState => ({
  side: "acp", eligibility: { available: true }, turn: null, requests: [], configOptions: [], commands: [], plan: [],
  usage: null, queue: { paused: false, items: [] }, steering: false, authRequired: false,
  promptCapabilities: { image: false, embeddedContext: false }, permissionMode: "ask", forceSwitchNote: null,
  idChange: null, queueLost: 0, outdated: [], connectorMissing: null, dormant: false, ...change,
});
