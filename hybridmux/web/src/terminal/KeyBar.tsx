import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, CornerDownLeft } from "lucide-react";
import type { PointerEvent, ReactNode } from "react";
import { t } from "../strings";

interface Props {
  ctrl: boolean;
  onKey: (data: string) => void;
  onCtrl: () => void;
}

const ESC = "\x1b";
const names = t.terminal.key;
const KEYS: [name: string, data: string, face: ReactNode][] = [
  [names.esc, ESC, names.esc],
  [names.tab, "\t", names.tab],
  [names.interrupt, "\x03", "^C"],
  [names.left, ESC + "[D", <ArrowLeft key="left" size={16} aria-hidden />],
  [names.up, ESC + "[A", <ArrowUp key="up" size={16} aria-hidden />],
  [names.down, ESC + "[B", <ArrowDown key="down" size={16} aria-hidden />],
  [names.right, ESC + "[C", <ArrowRight key="right" size={16} aria-hidden />],
  [names.enter, "\r", <CornerDownLeft key="enter" size={16} aria-hidden />],
];

/** Keys that a touch keyboard does not have. A press leaves the focus, and so the keyboard, where it is. */
export function KeyBar({ ctrl, onKey, onCtrl }: Props) {
  const keep = (event: PointerEvent) => event.preventDefault();
  return (
    <div className="key-bar" role="toolbar" aria-label={t.terminal.keys}>
      <button type="button" aria-pressed={ctrl} onPointerDown={keep} onClick={onCtrl}>
        {names.ctrl}
      </button>
      {KEYS.map(([name, data, face]) => (
        <button key={name} type="button" aria-label={name} onPointerDown={keep} onClick={() => onKey(data)}>
          {face}
        </button>
      ))}
    </div>
  );
}
