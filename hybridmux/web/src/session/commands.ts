import { call, command, path } from "../net/api";
import type { Choice, CreateSession, Place, ResumeRequest, SessionInfo, SwitchResult } from "../wire/types";

type Resume = Omit<ResumeRequest, "clientRequestId">;

export const createSession = (body: CreateSession): Promise<SessionInfo> => call("POST", path("sessions"), body);
export const closeSession = (id: string): Promise<void> => call("DELETE", path("sessions", id));
export const removeRecord = (id: string): Promise<void> => call("DELETE", path("hybrid-sessions", id));
export const switchTo = (id: string, to: Place, agentSessionId?: string): Promise<SwitchResult> =>
  command("POST", path("sessions", id, "switch"), agentSessionId === undefined ? { to } : { to, agentSessionId });
export const choose = (id: string, choice: Choice): Promise<void> =>
  command("POST", path("sessions", id, "switch"), { choice });
export const resumeSession = (id: string, body: Resume = {}): Promise<SessionInfo> =>
  command("POST", path("sessions", id, "resume"), body);

/** Sessions that this page started or moved: their terminal takes this window's size. */
const ours = new Set<string>();
export const claim = (id: string): void => void ours.add(id);
export const isClaimed = (id: string): boolean => ours.has(id);

/** How many cells this window has room for, before there is a terminal to measure. */
export function guessSize(): { cols: number; rows: number } {
  const small = window.matchMedia("(max-width: 640px)").matches;
  const [width, height] = small ? [7.25, 16] : [7.83, 17];
  const [sides, bars] = small ? [22, 157] : [26, 62];
  const cells = (length: number, cell: number) => Math.min(1000, Math.max(2, Math.floor(length / cell)));
  return { cols: cells(window.innerWidth - sides, width), rows: cells(window.innerHeight - bars, height) };
}
