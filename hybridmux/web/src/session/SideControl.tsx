import { LoaderCircle, MessageSquareText, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { humanise, sentence, t } from "../strings";
import { Install } from "../ui/Install";
import type { Eligibility, HybridInfo, Place } from "../wire/types";

interface Props {
  hybrid: HybridInfo;
  /** About the side the session is not on; null until the chat channel has said. */
  eligibility: Eligibility | null;
  /** Where the session was before it began to move, and where this page moves it to. */
  from: Place | null;
  onSwitch: (to: Place) => void;
  onChoose: () => void;
}

const PLACES: [Place, typeof SquareTerminal][] = [
  ["tui", SquareTerminal],
  ["acp", MessageSquareText],
];

/** A control of two positions. While the session moves it says which step is under way. */
export function SideControl({ hybrid, eligibility, from, onSwitch, onChoose }: Props) {
  const [asked, setAsked] = useState(false);
  const { side, phase } = hybrid;
  const moving = side === "switching";
  const blocked = !moving && eligibility !== null && !eligibility.available;
  const press = (to: Place) => {
    if (moving || to === side) return;
    if (blocked && eligibility.reason !== "session_ambiguous") return setAsked(!asked);
    move(to);
  };
  const move = (to: Place) => {
    setAsked(false);
    onSwitch(to);
  };
  return (
    <div className="side-control">
      <div className={`sides ${moving ? "moving" : ""}`} role="radiogroup" aria-label={t.session.sides}>
        {PLACES.map(([place, Icon]) => {
          const here = side === place || (moving && from === place);
          const off = moving || (blocked && side !== place);
          return (
            <button
              key={place}
              type="button"
              role="radio"
              aria-checked={here}
              aria-disabled={off}
              title={off && blocked ? why(eligibility) : undefined}
              onClick={() => press(place)}
            >
              <Icon size={14} aria-hidden /> <span>{t.side[place]}</span>
            </button>
          );
        })}
      </div>
      {moving && (
        <span className="phase" role="status">
          <LoaderCircle size={14} className="spin" aria-hidden />
          <span>{phase ? sentence(t.phase, phase) : t.side.switching}</span>
          {phase === "awaiting_choice" && (
            <button type="button" className="link" onClick={onChoose}>
              {t.session.choose}
            </button>
          )}
        </span>
      )}
      {blocked && asked && (
        <div className="why" role="status">
          <p>{why(eligibility)}</p>
          {/* As far as can be seen from outside: the agent itself is asked only when the session moves. */}
          {eligibility.reason === "no_session_id" && (
            <button type="button" className="link" onClick={() => move(side === "tui" ? "acp" : "tui")}>
              {t.session.tryAnyway}
            </button>
          )}
          {eligibility.connector && <Install connector={eligibility.connector} />}
        </div>
      )}
    </div>
  );
}

/** The page's own sentence, else the server's. */
const why = ({ reason, text }: Eligibility): string => (reason ? (t.reason[reason] ?? text ?? humanise(reason)) : t.reason.not_eligible!);
