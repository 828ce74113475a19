import { LoaderCircle, RotateCcw, Trash2 } from "lucide-react";
import { useState } from "react";
import { removeRecord } from "../session/commands";
import { ConfirmDialog } from "../session/dialogs";
import { sentence, t } from "../strings";
import { Banner } from "../ui/Banner";
import { ago, shortPath } from "../ui/format";
import { cause } from "../ui/trouble";
import type { HybridRecord } from "../wire/types";
import { useResume } from "./useResume";

/** What was lost when the session was interrupted, as far as it is known. */
export function lossOf(record: HybridRecord): string[] {
  const { activity, state, lostQueued = 0, configMissing } = record;
  return [
    state === "interrupted" && activity === "turn" && t.home.duringTurn,
    state === "interrupted" && activity === "switching" && t.home.duringSwitch,
    lostQueued > 0 && t.home.lostQueued(lostQueued),
    configMissing && t.home.configGone,
  ].filter((line): line is string => typeof line === "string");
}

export function RecordRow({ record }: { record: HybridRecord }) {
  const { busy, resume, shown } = useResume(record.id);
  const [removing, setRemoving] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const title = record.title || record.name;
  const remove = async () => {
    setRemoving(false);
    try {
      await removeRecord(record.id);
    } catch (error) {
      setTrouble(cause(error));
    }
  };
  return (
    <li className="row record" data-id={record.id}>
      <div className="row-main">
        <span className="row-title">{title}</span>
        <span className="row-facts">
          <span className="agent">{record.agent}</span>
          <span>{t.side[record.side]}</span>
          <span className={record.state}>{sentence(t.state, record.state)}</span>
          <span>{ago(record.updatedAt)}</span>
          <span className="path" title={record.cwd}>{shortPath(record.cwd)}</span>
        </span>
        {lossOf(record).map((line) => <span key={line} className="row-loss">{line}</span>)}
      </div>
      <button type="button" className="button" data-row disabled={busy} aria-label={t.home.resumeOne(title)} onClick={() => void resume()}>
        {busy ? <LoaderCircle size={14} className="spin" aria-hidden /> : <RotateCcw size={14} aria-hidden />} {t.home.resume}
      </button>
      <button type="button" className="icon-button" aria-label={t.home.removeOne(title)} title={t.home.remove} onClick={() => setRemoving(true)}>
        <Trash2 size={14} aria-hidden />
      </button>
      {shown}
      {trouble && <Banner level="error" onDismiss={() => setTrouble(null)}>{trouble}</Banner>}
      {removing && <ConfirmDialog title={t.home.remove} text={t.home.removeAsk(title)} onYes={() => void remove()} onClose={() => setRemoving(false)} />}
    </li>
  );
}
