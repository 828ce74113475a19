/**
 * Chat events → the items of the timeline. Pure. The server has the same fold; the vectors in
 * `fixtures/chat/fold` hold both to it. Items stay where their first event put them, so a position is a
 * name for an item for as long as the timeline lives.
 */
import type { ChatEvent, Content } from "../wire/types";

type Of<T extends ChatEvent["type"]> = Extract<ChatEvent, { type: T }>;
type Picked<T extends ChatEvent["type"], K extends keyof Of<T>> = Partial<Pick<Of<T>, K>>;

export interface MessageItem {
  kind: "message";
  role: Of<"message.append">["role"];
  id: string;
  content: Content[];
}
export interface ToolItem extends Picked<"tool.upsert", "title" | "status" | "input" | "content" | "locations" | "output"> {
  kind: "tool";
  role: "agent";
  id: string;
  toolKind?: string;
}
export interface CompactionItem extends Picked<"compaction.upsert", "status" | "text"> {
  kind: "compaction";
  role: "agent";
  id: string;
}
export interface RequestItem extends Picked<"request.open", "title" | "toolCallId" | "options" | "schema"> {
  kind: "request";
  role: "agent";
  id: string;
  requestKind: Of<"request.open">["kind"];
  outcome?: string;
}
export interface TurnItem extends Picked<"turn.end", "startedAt" | "endedAt" | "stopReason" | "error"> {
  kind: "turn";
  role: "agent";
  id: string | null;
}
export interface NoticeItem extends Picked<"notice", "level" | "code" | "text"> {
  kind: "notice";
  role: "system";
}
export interface MarkerItem {
  kind: "marker";
  role: "system";
  marker: Of<"marker">["kind"];
}
export type Item = MessageItem | ToolItem | CompactionItem | RequestItem | TurnItem | NoticeItem | MarkerItem;

export interface Timeline {
  readonly items: readonly Item[];
  /** Item kind and id → position in `items`. */
  readonly index: ReadonlyMap<string, number>;
  /** The last event applied; events up to it are skipped when they come again. */
  readonly seq: number;
}

export const EMPTY_TIMELINE: Timeline = { items: [], index: new Map(), seq: 0 };

/** The timeline after more events. Items that did not change are the same objects as before. */
export function fold(timeline: Timeline, events: readonly ChatEvent[]): Timeline {
  if (events.length === 0) return timeline;
  const draft = new Draft(timeline);
  for (const event of events) draft.apply(event);
  return draft.done();
}

class Draft {
  readonly #items: Item[];
  readonly #index: Map<string, number>;
  #seq: number;

  constructor(timeline: Timeline) {
    this.#items = [...timeline.items];
    this.#index = new Map(timeline.index);
    this.#seq = timeline.seq;
  }

  done(): Timeline {
    return { items: this.#items, index: this.#index, seq: this.#seq };
  }

  apply(event: ChatEvent): void {
    if (typeof event.seq === "number") {
      if (event.seq <= this.#seq) return;
      this.#seq = event.seq;
    }
    switch (event.type) {
      case "message.append":
        return this.#message(event);
      case "tool.upsert":
        return this.#tool(event);
      case "compaction.upsert":
        return this.#compaction(event);
      case "request.open":
        return this.#open(event);
      case "request.close":
        return this.#close(event);
      case "turn.end":
        return this.#add({
          kind: "turn",
          role: "agent",
          id: event.turnId ?? null,
          ...picked(event, ["startedAt", "endedAt", "stopReason", "error"]),
        });
      case "notice":
        return this.#add({ kind: "notice", role: "system", ...picked(event, ["level", "code", "text"]) });
      case "marker":
        return this.#add({ kind: "marker", role: "system", marker: event.kind });
      default: // plan, commands, options, usage and title come with the chat state; others are not known yet
    }
  }

  #find<K extends Item["kind"]>(kind: K, id: string): Extract<Item, { kind: K }> | undefined {
    const position = this.#index.get(`${kind}:${id}`);
    return position === undefined ? undefined : (this.#items[position] as Extract<Item, { kind: K }>);
  }

  #add(item: Item): void {
    this.#items.push(item);
  }

  #put(item: Exclude<Item, TurnItem | NoticeItem | MarkerItem>): void {
    const key = `${item.kind}:${item.id}`;
    const position = this.#index.get(key);
    if (position !== undefined) this.#items[position] = item;
    else this.#index.set(key, this.#items.push(item) - 1);
  }

  #message({ messageId: id, role, content }: Of<"message.append">): void {
    if (typeof id !== "string") return;
    const item = this.#find("message", id) ?? { kind: "message", role, id, content: [] };
    this.#put({ ...item, content: appended(item.content, content) });
  }

  #tool(event: Of<"tool.upsert">): void {
    const id = event.toolCallId;
    if (typeof id !== "string") return;
    const item: ToolItem = this.#find("tool", id) ?? { kind: "tool", role: "agent", id };
    const kind = "kind" in event ? { toolKind: event.kind } : {};
    const patch = picked(event, ["title", "status", "input", "content", "locations", "output"]);
    this.#put({ ...item, ...kind, ...patch });
  }

  #compaction(event: Of<"compaction.upsert">): void {
    if (typeof event.id !== "string") return;
    const item = this.#find("compaction", event.id) ?? { kind: "compaction", role: "agent", id: event.id };
    this.#put({ ...item, ...picked(event, ["status", "text"]) });
  }

  #open(event: Of<"request.open">): void {
    const id = event.requestId;
    if (typeof id !== "string") return;
    const item = this.#find("request", id) ?? { kind: "request", role: "agent", id, requestKind: event.kind };
    this.#put({ ...item, ...picked(event, ["title", "toolCallId", "options", "schema"]) });
  }

  #close(event: Of<"request.close">): void {
    const item = this.#find("request", event.requestId);
    if (item) this.#put({ ...item, outcome: event.outcome });
  }
}

function picked<T extends object, K extends keyof T>(from: T, names: readonly K[]): Partial<Pick<T, K>> {
  const out: Partial<Pick<T, K>> = {};
  for (const name of names) if (name in from) out[name] = from[name];
  return out;
}

/** Text follows text in one piece, so that a long answer is one string and not thousands. */
function appended(content: readonly Content[], next: Content): Content[] {
  const last = content.at(-1);
  if (last?.type !== "text" || next.type !== "text") return [...content, next];
  const joined: Content = { ...last, text: (last.text ?? "") + (next.text ?? "") };
  if (next.truncated) joined.truncated = true;
  return [...content.slice(0, -1), joined];
}
