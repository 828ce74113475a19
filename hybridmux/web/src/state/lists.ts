import type { EventsFrame, HybridRecord, SessionInfo } from "../wire/types";

/** What `/ws/events` tells: sessions and records by id, and whether the first frame has come. */
export interface Lists {
  ready: boolean;
  sessions: ReadonlyMap<string, SessionInfo>;
  records: ReadonlyMap<string, HybridRecord>;
}

export const EMPTY: Lists = { ready: false, sessions: new Map(), records: new Map() };

const byId = <T extends { id: string }>(items: T[]): Map<string, T> => new Map(items.map((item) => [item.id, item]));
const withItem = <T extends { id: string }>(map: ReadonlyMap<string, T>, item: T) => new Map(map).set(item.id, item);

function without<T>(map: ReadonlyMap<string, T>, id: string): Map<string, T> {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
}

/** The lists after one frame. Frames of a type we do not know change nothing. */
export function applyFrame(lists: Lists, frame: EventsFrame): Lists {
  switch (frame.type) {
    case "snapshot":
      return { ready: true, sessions: byId(frame.sessions), records: byId(frame.records) };
    case "session.set":
      return { ...lists, sessions: withItem(lists.sessions, frame.session) };
    case "session.removed":
      return { ...lists, sessions: without(lists.sessions, frame.id) };
    case "record.set":
      return { ...lists, records: withItem(lists.records, frame.record) };
    case "record.removed":
      return { ...lists, records: without(lists.records, frame.id) };
    default:
      return lists;
  }
}

const needsAPerson = (session: SessionInfo): boolean => session.attention !== null || session.status === "waiting";
const isRunning = (session: SessionInfo): boolean =>
  session.hybrid ? session.hybrid.state === "active" : session.status !== "exited";
const newestFirst = (a: { updatedAt: string }, b: { updatedAt: string }): number =>
  b.updatedAt.localeCompare(a.updatedAt);
const oldestFirst = (a: SessionInfo, b: SessionInfo): number => a.createdAt.localeCompare(b.createdAt);

/** Running sessions: those that want a person first, then as they were started (so that rows do not jump about). */
export function running(lists: Lists): SessionInfo[] {
  const rank = (session: SessionInfo) => (needsAPerson(session) ? 0 : 1);
  return [...lists.sessions.values()].filter(isRunning).sort((a, b) => rank(a) - rank(b) || oldestFirst(a, b));
}

/** Ordinary terminals that have ended and still stand in the list. */
export function ended(lists: Lists): SessionInfo[] {
  return [...lists.sessions.values()].filter((session) => !session.hybrid && !isRunning(session)).sort(newestFirst);
}

/** What can be brought back, newest first. */
export function recoverable(lists: Lists): HybridRecord[] {
  return [...lists.records.values()].filter((record) => record.state !== "active").sort(newestFirst);
}
