import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { t } from "../strings";
import type { AgentRequest } from "../wire/types";
import { focusComposer } from "./Composer";
import { useChat } from "./context";
import { FormCard } from "./FormCard";

export function Requests({ requests }: { requests: AgentRequest[] }) {
  return requests.map((request, index) =>
    request.kind === "form" ? (
      <FormCard key={request.requestId} request={request} />
    ) : (
      <PermissionCard key={request.requestId} request={request} first={index === 0} />
    ),
  );
}

const isText = (target: EventTarget | null): target is HTMLInputElement | HTMLTextAreaElement =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

/** Where a digit has a meaning of its own: in a text, or as the name of a choice. */
const takesDigits = (target: EventTarget | null): boolean => isText(target) || target instanceof HTMLSelectElement;

/** The option that a key stands for. In a text field only with Alt: a digit there is text. */
export function optionOf(event: KeyboardEvent, count: number): number | null {
  if (event.ctrlKey || event.metaKey || event.repeat) return null;
  if (takesDigits(event.target) && !event.altKey) return null;
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1] ?? (/^[1-9]$/.test(event.key) ? event.key : undefined);
  const index = Number(digit) - 1;
  return digit !== undefined && index < count ? index : null;
}

/** A card that has just come takes no keys: what is typed then was meant for something else. */
const ARMED_AFTER_MS = 400;

/** True a moment after the card became the one that has the keys. */
function useArmed(first: boolean): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!first) return;
    const timer = setTimeout(() => setArmed(true), ARMED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return armed;
}

/** Somebody who has begun a sentence keeps the focus. */
const midSentence = (field: Element | null): boolean => isText(field) && field.value !== "";

function PermissionCard({ request, first }: { request: AgentRequest; first: boolean }) {
  const { commands, run } = useChat();
  const [sent, setSent] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const options = request.options ?? [];
  const preferred = options.find((option) => option.kind === "allow_once");

  const answer = async (optionId: string | null) => {
    if (sent) return;
    setSent(true);
    const outcome = optionId === null ? { outcome: "cancelled" as const } : { outcome: "selected" as const, optionId };
    if (!(await run(() => commands.answer(request.requestId, outcome)))) setSent(false);
  };
  const choose = useRef(answer);
  choose.current = answer;

  useEffect(() => {
    if (first && !midSentence(document.activeElement) && !document.querySelector("dialog[open]")) card.current?.focus();
  }, [first]);
  useLayoutEffect(() => {
    const box = card.current;
    return () => {
      if (box?.contains(document.activeElement)) focusComposer();
    };
  }, []);
  const armed = useArmed(first);
  const count = options.length;
  // With the layout: a card that says it takes keys takes them.
  useLayoutEffect(() => {
    if (!first) return;
    const pressed = (event: KeyboardEvent) => {
      const index = document.querySelector("dialog[open]") ? null : optionOf(event, count);
      if (index === null) return;
      event.preventDefault();
      if (armed) void choose.current(options[index]!.optionId);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
    // The options of a request do not change.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [first, armed, count]);

  return (
    <div className="card request" role="group" aria-label={`${t.permission.title}: ${request.title}`} tabIndex={-1} ref={card}>
      <p className="card-title" role="alert">
        <strong>{t.permission.title}</strong> {request.title}
      </p>
      {options.length === 0 && <p className="cut">{t.permission.none}</p>}
      <div className="card-actions">
        {options.map((option, index) => (
          <button
            key={option.optionId}
            type="button"
            disabled={sent}
            className={`button ${option === preferred ? "primary" : ""}`}
            aria-keyshortcuts={armed && index < 9 ? String(index + 1) : undefined}
            onClick={() => void answer(option.optionId)}
          >
            {first && index < 9 && <kbd aria-hidden>{index + 1}</kbd>} {option.name}
          </button>
        ))}
        {options.length === 0 && (
          <button type="button" className="button" disabled={sent} onClick={() => void answer(null)}>
            {t.permission.decline}
          </button>
        )}
      </div>
    </div>
  );
}
