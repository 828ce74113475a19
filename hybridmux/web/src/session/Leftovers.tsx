import { CornerDownLeft, X } from "lucide-react";
import { t } from "../strings";
import { CopyButton } from "../ui/CopyButton";
import type { SwitchResult } from "../wire/types";

interface Props {
  result: SwitchResult;
  onInsert: (text: string) => void;
  onDismiss: () => void;
}

/** What a switch could not take along: messages that waited, and start arguments. */
export function Leftovers({ result: { side, draft, dropped, unsupported }, onInsert, onDismiss }: Props) {
  if (!draft && dropped.length === 0 && unsupported.length === 0) return null;
  return (
    <aside className="leftovers" role="status">
      <button type="button" className="icon-button small corner" aria-label={t.dismiss} onClick={onDismiss}>
        <X size={14} aria-hidden />
      </button>
      {draft && (
        <>
          <p>
            <strong>{t.draft.title}</strong> {t.draft.text}
          </p>
          <pre tabIndex={0}>{draft}</pre>
          <div className="card-actions">
            <CopyButton text={draft} words />
            {side === "tui" && (
              <button type="button" className="button" onClick={() => onInsert(draft)}>
                <CornerDownLeft size={14} aria-hidden /> {t.draft.insert}
              </button>
            )}
          </div>
        </>
      )}
      <Arguments title={t.left.dropped} list={dropped} />
      <Arguments title={t.left.unsupported} list={unsupported} />
    </aside>
  );
}

function Arguments({ title, list }: { title: string; list: string[] }) {
  if (list.length === 0) return null;
  return (
    <p>
      {title} <code>{list.join(" ")}</code>
    </p>
  );
}
