import { Socket } from "../net/socket";
import type { EventsFrame } from "../wire/types";
import { applyFrame, EMPTY } from "./lists";
import { Store } from "./store";

export const lists = new Store(EMPTY);

/** Keeps the lists live until the returned function is called. */
export function followEvents(): () => void {
  const socket = new Socket({
    url: () => "/ws/events",
    onText: (text) => lists.set(applyFrame(lists.get(), JSON.parse(text) as EventsFrame)),
  });
  return () => socket.stop();
}
