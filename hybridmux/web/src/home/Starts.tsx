import { LoaderCircle, MessageSquareText, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { path } from "../net/api";
import { claim, createSession, guessSize } from "../session/commands";
import { RefusalDialog } from "../session/dialogs";
import { refusalOf, type Refusal } from "../session/moves";
import { go } from "../state/route";
import { t } from "../strings";
import { Banner } from "../ui/Banner";
import { shortPath } from "../ui/format";
import type { LaunchConfig, Place } from "../wire/types";
import { useRead } from "./useRead";

export function Starts() {
  const { value: configs, problem } = useRead<LaunchConfig[]>(path("launch-configs"));
  const [busy, setBusy] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  const start = async (config: LaunchConfig, side: Place) => {
    setBusy(config.id + side);
    setRefusal(null);
    try {
      const body = config.hybrid ? { configId: config.id, startSide: side } : { configId: config.id };
      const { id } = await createSession({ ...body, ...guessSize() });
      claim(id);
      go({ at: "session", id });
    } catch (error) {
      setRefusal(refusalOf(error, t.failure.start));
    } finally {
      setBusy(null);
    }
  };
  return (
    <section aria-labelledby="start">
      <h2 id="start">{t.home.start}</h2>
      {refusal?.ask === "nothing" ? (
        <Banner level="error" title={refusal.title} onDismiss={() => setRefusal(null)}>{refusal.cause}</Banner>
      ) : (
        refusal && <RefusalDialog refusal={refusal} onRetry={() => setRefusal(null)} onClose={() => setRefusal(null)} />
      )}
      {problem && <Banner level="error" title={t.home.noStarts}>{problem}</Banner>}
      {configs?.length === 0 && <p className="empty">{t.home.noConfigs}</p>}
      <ul className="starts">
        {configs?.map((config) => <Start key={config.id} config={config} busy={busy} onStart={(side) => void start(config, side)} />)}
      </ul>
    </section>
  );
}

interface StartProps {
  config: LaunchConfig;
  busy: string | null;
  onStart: (side: Place) => void;
}

function Start({ config, busy, onStart }: StartProps) {
  const places: [Place, typeof SquareTerminal, string][] = [["tui", SquareTerminal, t.home.terminal]];
  if (config.hybrid) places.push(["acp", MessageSquareText, t.home.chat]);
  return (
    <li className="start">
      <span className="start-name">{config.name}</span>
      <code title={config.cmd.join(" ")}>{config.cmd.join(" ")}</code>
      <span className="path" title={config.cwd}>{shortPath(config.cwd)}</span>
      <span className="start-sides">
        {places.map(([place, Icon, name]) => (
          <button key={place} type="button" className="button" data-row data-start disabled={busy !== null} aria-label={t.home.startIn(config.name, name)} onClick={() => onStart(place)}>
            {busy === config.id + place ? <LoaderCircle size={14} className="spin" aria-hidden /> : <Icon size={14} aria-hidden />} {name}
          </button>
        ))}
      </span>
    </li>
  );
}
