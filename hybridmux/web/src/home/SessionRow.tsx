import { MessageSquareText, SquareTerminal, X } from "lucide-react";
import { closeSession } from "../session/commands";
import { hrefOf } from "../state/route";
import { humanise, sentence, t } from "../strings";
import { ago, shortPath } from "../ui/format";
import { StatusDot } from "../ui/StatusDot";
import type { SessionInfo } from "../wire/types";

export function SessionRow({ session }: { session: SessionInfo }) {
  const { hybrid, attention, status } = session;
  const side = hybrid?.side ?? "tui";
  const Icon = side === "acp" ? MessageSquareText : SquareTerminal;
  return (
    <li className={`row ${attention ? "attention" : ""}`} data-id={session.id}>
      <a href={hrefOf({ at: "session", id: session.id })} data-row>
        <StatusDot session={session} />
        <span className="row-main">
          <span className="row-title">{session.title || session.name}</span>
          <span className="row-facts">
            {hybrid && <span className="agent">{hybrid.agent}</span>}
            <span>
              <Icon size={12} aria-hidden /> {hybrid?.phase ? sentence(t.phase, hybrid.phase) : t.side[side]}
            </span>
            <span>{attention ? humanise(attention.reason) : sentence(t.status, status)}</span>
            <span className="path" title={session.cwd}>{shortPath(session.cwd)}</span>
          </span>
          {session.preview && <span className="row-preview">{session.preview}</span>}
        </span>
        <time dateTime={session.updatedAt}>{ago(session.updatedAt)}</time>
      </a>
    </li>
  );
}

/** An ordinary terminal that has ended: nothing to resume, only to put away. */
export function EndedRow({ session }: { session: SessionInfo }) {
  const title = session.title || session.name;
  return (
    <li className="row ended" data-id={session.id}>
      <div className="row-main">
        <span className="row-title">{title}</span>
        <span className="row-facts">{session.exitCode !== undefined && t.home.exit(session.exitCode)}</span>
      </div>
      <button type="button" className="icon-button" aria-label={t.home.removeOne(title)} onClick={() => void closeSession(session.id).catch(() => undefined)}>
        <X size={14} aria-hidden />
      </button>
    </li>
  );
}
