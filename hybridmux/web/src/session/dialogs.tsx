import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { ago } from "../ui/format";
import { Install } from "../ui/Install";
import type { Candidate, Choice } from "../wire/types";
import type { Refusal } from "./moves";

interface ChoiceProps {
  note: string | null;
  onChoice: (choice: Choice) => void;
  onClose: () => void;
}

export function ChoiceDialog({ note, onChoice, onClose }: ChoiceProps) {
  const button = (choice: Choice, className: string) => (
    <button type="button" className={`button ${className}`} onClick={() => onChoice(choice)}>
      {t.choice[choice]}
    </button>
  );
  return (
    <Dialog
      title={t.choice.title}
      onClose={onClose}
      actions={
        <>
          {button("force", "danger")}
          {button("cancel", "")}
          {button("wait", "primary")}
        </>
      }
    >
      <p>{t.choice.text}</p>
      <p>{note ?? t.choice.forceLoses}</p>
    </Dialog>
  );
}

interface RefusalProps {
  refusal: Refusal;
  /** The same request again, with what was decided. */
  onRetry: (change: { agentSessionId?: string; confirmWithoutEnv?: boolean }) => void;
  onClose: () => void;
}

/** The dialog of a refusal that somebody can do something about. */
export function RefusalDialog({ refusal, onRetry, onClose }: RefusalProps) {
  const cancel = (
    <button type="button" className="button" onClick={onClose}>
      {t.cancel}
    </button>
  );
  switch (refusal.ask) {
    case "candidates":
      return (
        <Dialog title={refusal.gone ? t.candidates.missing : t.candidates.ambiguous} onClose={onClose} actions={cancel}>
          <p>{refusal.gone ? t.candidates.missingText : t.candidates.ambiguousText}</p>
          <Candidates list={refusal.candidates} onPick={(agentSessionId) => onRetry({ agentSessionId })} />
        </Dialog>
      );
    case "connector":
      return (
        <Dialog title={t.connector.title(refusal.connector.title)} onClose={onClose} actions={cancel}>
          <p>{t.connector.text}</p>
          <Install connector={refusal.connector} />
        </Dialog>
      );
    case "config":
      return (
        <Dialog
          title={t.config.title}
          onClose={onClose}
          actions={
            <>
              {cancel}
              <button type="button" className="button primary" onClick={() => onRetry({ confirmWithoutEnv: true })}>
                {t.config.go}
              </button>
            </>
          }
        >
          <p>{t.config.text}</p>
        </Dialog>
      );
    default:
      return null;
  }
}

function Candidates({ list, onPick }: { list: Candidate[]; onPick: (id: string) => void }) {
  if (list.length === 0) return <p>{t.candidates.none}</p>;
  return (
    <ul className="candidates">
      {list.map((candidate) => (
        <li key={candidate.agentSessionId}>
          <button type="button" onClick={() => onPick(candidate.agentSessionId)}>
            <span>{candidate.title || t.candidates.untitled}</span>
            <small>
              {ago(candidate.updatedAt) || t.candidates.unknownTime} · <code>{candidate.agentSessionId}</code>
            </small>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ConfirmProps {
  title: string;
  text: string;
  onYes: () => void;
  onClose: () => void;
}

export function ConfirmDialog({ title, text, onYes, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="button" className="button danger" onClick={onYes}>
            {title}
          </button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
