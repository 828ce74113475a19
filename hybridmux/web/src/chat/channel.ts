import { Socket, type SocketStatus } from "../net/socket";
import { Store } from "../state/store";
import type { ChatEvent, ChatFrame, ChatState } from "../wire/types";
import { EMPTY_TIMELINE, fold, type Timeline } from "./fold";

export interface ChatView {
  status: SocketStatus;
  /** Which log this is; null until the first snapshot. */
  generation: string | null;
  /** null until the first snapshot. */
  state: ChatState | null;
  timeline: Timeline;
  /** Earlier events fell to the log's byte limit. */
  truncated: boolean;
  /** The events that the snapshot promised have arrived. */
  loaded: boolean;
}

export const BLANK: ChatView = {
  status: "connecting",
  generation: null,
  state: null,
  timeline: EMPTY_TIMELINE,
  truncated: false,
  loaded: false,
};

/** One frame applied to a view: pure. Another generation, or a reset, drops the timeline. */
export function applyChat(view: ChatView, frame: ChatFrame): ChatView {
  switch (frame.type) {
    case "snapshot": {
      const { generation, state } = frame;
      const fresh = frame.reset === true || generation !== view.generation;
      const timeline = fresh ? EMPTY_TIMELINE : view.timeline;
      const truncated = (!fresh && view.truncated) || frame.truncated === true;
      return { ...view, generation, state, timeline, truncated, loaded: false };
    }
    case "events":
      return { ...view, loaded: true, timeline: fold(view.timeline, frame.items) };
    case "state":
      return { ...view, state: frame.state };
    default:
      return view;
  }
}

/** Joins neighbouring `events` frames: a burst is folded once. */
export function joined(frames: readonly ChatFrame[]): ChatFrame[] {
  const out: ChatFrame[] = [];
  for (const frame of frames) {
    const last = out.at(-1);
    if (frame.type === "events" && last?.type === "events" && last.generation === frame.generation) {
      (last.items as ChatEvent[]).push(...frame.items);
    } else out.push(frame.type === "events" ? { ...frame, items: [...frame.items] } : frame);
  }
  return out;
}

/** The chat of one session: connected on either side, positions kept over reconnects. */
export class ChatChannel {
  readonly view = new Store<ChatView>(BLANK);
  #pending: ChatFrame[] = [];
  #scheduled = false;
  readonly #socket: Socket;

  constructor(id: string) {
    this.#socket = new Socket({
      url: () => `/ws/s/${encodeURIComponent(id)}/chat${this.#query()}`,
      onText: (text) => this.#take(JSON.parse(text) as ChatFrame),
      onStatus: (status) => this.view.update({ status }),
    });
  }

  stop(): void {
    this.#socket.stop();
  }

  #query(): string {
    this.#flush();
    const { generation, timeline } = this.view.get();
    return generation === null ? "" : "?" + new URLSearchParams({ generation, seq: String(timeline.seq) });
  }

  /** Frames of one animation frame are applied together. A hidden tab has no animation frames. */
  #take(frame: ChatFrame): void {
    this.#pending.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (document.visibilityState === "visible") requestAnimationFrame(this.#flush);
    else setTimeout(this.#flush, 100);
  }

  #flush = (): void => {
    this.#scheduled = false;
    let view = this.view.get();
    for (const frame of joined(this.#pending.splice(0))) view = applyChat(view, frame);
    this.view.set(view);
  };
}
