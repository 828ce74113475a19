import { ArrowLeft, Power } from "lucide-react";
import { t } from "../strings";
import { hrefOf } from "../state/route";
import { duration, shortPath } from "../ui/format";
import { StatusDot } from "../ui/StatusDot";
import { useNow } from "../ui/useNow";
import type { ChatState, Place, SessionInfo, Turn } from "../wire/types";
import { SideControl } from "./SideControl";

interface Props {
  session: SessionInfo;
  state: ChatState | null;
  from: Place | null;
  onSwitch: (to: Place) => void;
  onChoose: () => void;
  onClose: () => void;
}

export function Header({ session, state, from, onSwitch, onChoose, onClose }: Props) {
  const { hybrid } = session;
  return (
    <header className="session-header">
      <a className="icon-button" href={hrefOf({ at: "home" })} aria-label={t.session.back} title={t.session.back}>
        <ArrowLeft size={16} aria-hidden />
      </a>
      <div className="session-name">
        <h1>
          <StatusDot session={session} /> <span>{session.title || session.name}</span>
        </h1>
        <p>
          {hybrid && <span className="agent">{hybrid.agent}</span>}
          <span className="path" title={session.cwd}>{shortPath(session.cwd)}</span>
        </p>
      </div>
      <Elapsed turn={state?.turn ?? null} />
      {hybrid && <SideControl hybrid={hybrid} eligibility={state?.eligibility ?? null} from={from} onSwitch={onSwitch} onChoose={onChoose} />}
      <button type="button" className="icon-button" aria-label={t.session.close} title={t.session.close} onClick={onClose}>
        <Power size={16} aria-hidden />
      </button>
    </header>
  );
}

/** The turn's times are the server's, so that every device shows the same. */
function Elapsed({ turn }: { turn: Turn | null }) {
  const running = turn !== null && !turn.endedAt;
  const now = useNow(running);
  if (!turn || !running) return null;
  return (
    <span className="elapsed" title={t.session.elapsed}>
      {duration(now - Date.parse(turn.startedAt))}
    </span>
  );
}
