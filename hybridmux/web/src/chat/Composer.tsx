import { ArrowUp, ListPlus, Square, Waypoints } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { t } from "../strings";
import type { ChatState, Command } from "../wire/types";
import { useChat } from "./context";
import { UsageMeter } from "./Options";
import { fitting } from "./slash";

const draftKey = (id: string) => `hybridmux.draft.${id}`;

interface Draft {
  text: string;
  setText: (text: string) => void;
  sending: boolean;
  /** Takes the text out of the field and sends it. What does not arrive comes back before what has been typed since. */
  send: (deliver: (text: string) => Promise<boolean>) => Promise<void>;
}

/** What is typed, and what is on its way: both outlive a reload of the page. */
function useDraft(id: string): Draft {
  const [text, show] = useState(() => sessionStorage.getItem(draftKey(id)) ?? "");
  const sent = useRef("");
  // Not in the state alone: an answer may come after the composer has gone.
  const latest = useRef(text);
  const setText = (next: string) => {
    latest.current = next;
    sessionStorage.setItem(draftKey(id), joined(sent.current, next));
    show(next);
  };
  const [sending, setSending] = useState(false);
  const send: Draft["send"] = async (deliver) => {
    sent.current = text;
    setSending(true);
    setText("");
    const arrived = await deliver(text);
    sent.current = "";
    setText(arrived ? latest.current : joined(text, latest.current));
    setSending(false);
  };
  return { text, setText, sending, send };
}

const joined = (...parts: string[]): string => parts.filter(Boolean).join("\n");

/** On a phone the focus would open the keyboard over the conversation. */
export function focusComposer(): void {
  if (coarse.matches || document.querySelector("dialog[open]")) return;
  document.querySelector<HTMLElement>(".composer textarea")?.focus();
}

const coarse = window.matchMedia("(pointer: coarse)");

export function Composer({ id, state }: { id: string; state: ChatState }) {
  const { commands, run } = useChat();
  const { text, setText, sending, send: sendDraft } = useDraft(id);
  const area = useRef<HTMLTextAreaElement>(null);
  const busy = Boolean(state.turn && !state.turn.endedAt);
  const ready = !sending && text.trim() !== "";

  useEffect(focusComposer, []);
  useLayoutEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }, [text]);

  const send = (mode: "auto" | "steer") => {
    if (ready) void sendDraft((message) => run(() => commands.prompt(message, mode)));
  };
  const completion = useCompletion(state.commands, text, setText);
  const pressed = (event: KeyboardEvent) => {
    if (completion.pressed(event) || event.nativeEvent.isComposing || event.key !== "Enter") return;
    if (event.shiftKey || coarse.matches) return;
    event.preventDefault();
    send("auto");
  };
  return (
    <div className="composer">
      {completion.list}
      <textarea
        ref={area}
        rows={1}
        aria-label={t.chat.composer}
        placeholder={busy ? t.chat.placeholderBusy : t.chat.placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={pressed}
        {...completion.combobox}
      />
      <div className="composer-actions">
        {state.usage && <UsageMeter usage={state.usage} />}
        <span className="spacer" />
        {busy && <Stop />}
        {busy && state.steering && (
          <button type="button" className="button" disabled={!ready} onClick={() => send("steer")}>
            <Waypoints size={14} aria-hidden /> {t.chat.steer}
          </button>
        )}
        <button type="button" className="button primary" disabled={!ready} onClick={() => send("auto")}>
          {busy ? <ListPlus size={14} aria-hidden /> : <ArrowUp size={14} aria-hidden />} {busy ? t.chat.queue : t.chat.send}
        </button>
      </div>
    </div>
  );
}

/** The first press asks the agent; the second one makes the server insist. */
function Stop() {
  const { commands, run } = useChat();
  const [asked, setAsked] = useState(false);
  const stop = () => {
    setAsked(true);
    void run(commands.cancel);
  };
  return (
    <button type="button" className="button stop" onClick={stop}>
      <Square size={12} aria-hidden /> {asked ? t.chat.stopping : t.chat.stop}
    </button>
  );
}

/** A list of slash commands under the composer's text, driven by its keys. */
function useCompletion(commands: Command[], text: string, setText: (text: string) => void) {
  const list = useId();
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const found = closedFor === text ? [] : fitting(commands, text);
  const open = found.length > 0;
  const index = Math.min(at, found.length - 1);
  const take = (command: Command) => setText(`/${command.name} `);

  const pressed = (event: KeyboardEvent): boolean => {
    if (!open || event.nativeEvent.isComposing) return false;
    const exact = found[index]!.name === text.slice(1);
    if (event.key === "ArrowDown") setAt((index + 1) % found.length);
    else if (event.key === "ArrowUp") setAt((index + found.length - 1) % found.length);
    else if (event.key === "Escape") setClosedFor(text);
    else if (event.key === "Tab" || (event.key === "Enter" && !exact && !event.shiftKey)) take(found[index]!);
    else return false;
    event.preventDefault();
    return true;
  };
  const combobox = {
    role: "combobox" as const,
    "aria-autocomplete": "list" as const,
    "aria-expanded": open,
    "aria-controls": open ? list : undefined,
    "aria-activedescendant": open ? `${list}-${index}` : undefined,
  };
  const shown = open && (
    <ul className="completion" id={list} role="listbox" aria-label={t.chat.commands}>
      {found.map((command, position) => (
        <li key={command.name} id={`${list}-${position}`} role="option" aria-selected={position === index} onMouseDown={(event) => { event.preventDefault(); take(command); }}>
          <code>/{command.name}</code> <span>{command.description}</span>
        </li>
      ))}
    </ul>
  );
  return { pressed, combobox, list: shown };
}
