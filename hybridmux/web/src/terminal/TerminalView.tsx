import { useEffect, useImperativeHandle, useRef, useState, type Ref } from "react";
import { t } from "../strings";
import { useStore } from "../state/store";
import { Banner } from "../ui/Banner";
import type { TerminalController } from "./controller";
import { KeyBar } from "./KeyBar";

export interface TerminalHandle {
  paste(text: string): void;
  focus(): void;
}

interface Props {
  id: string;
  /** The session is on the terminal side: the connection is kept only then. */
  active: boolean;
  /** This page started or moved the session, so its window gives the size. */
  claim: boolean;
  handle: Ref<TerminalHandle>;
}

/** Loads xterm's chunk when it is first needed. */
const RETRY_MS = 2_000;
const load = () => import("./controller");

export function TerminalView({ id, active, claim, handle }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [controller, setController] = useState<TerminalController | null>(null);
  useEffect(() => {
    let gone = false;
    let made: TerminalController | null = null;
    let timer: ReturnType<typeof setTimeout>;
    const open = async () => {
      try {
        const module = await load();
        if (gone || !box.current) return;
        made = new module.TerminalController(box.current, id, claim);
        setController(made);
      } catch {
        if (!gone) timer = setTimeout(() => void open(), RETRY_MS); // the chunk did not arrive
      }
    };
    void open();
    return () => {
      gone = true;
      clearTimeout(timer);
      made?.dispose();
      setController(null);
    };
    // `claim` is about how the terminal is opened; it does not open it again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);
  useEffect(() => {
    if (!controller) return;
    if (!active) return controller.disconnect();
    controller.connect();
    controller.focus();
  }, [controller, active]);
  useImperativeHandle(handle, () => ({
    paste: (text) => controller?.paste(text),
    focus: () => controller?.focus(),
  }), [controller]);
  return (
    <section className="terminal" aria-label={t.terminal.label}>
      {controller && <Lines controller={controller} active={active} />}
      <div className="terminal-box" ref={box} />
      {controller && <Bar controller={controller} />}
    </section>
  );
}

function Lines({ controller, active }: { controller: TerminalController; active: boolean }) {
  const { status, foreign, exitCode } = useStore(controller.state);
  return (
    <>
      {active && status === "waiting" && <p className="state-line" role="status">{t.reconnecting}</p>}
      {exitCode !== null && <Banner>{t.terminal.exited(exitCode)}</Banner>}
      {foreign && (
        <p className="state-line floating" role="status">
          {t.terminal.other(foreign.cols, foreign.rows)}
          <button type="button" className="link" onClick={() => { controller.claim(); controller.focus(); }}>
            {t.terminal.fit}
          </button>
        </p>
      )}
    </>
  );
}

function Bar({ controller }: { controller: TerminalController }) {
  const { ctrl } = useStore(controller.state);
  return <KeyBar ctrl={ctrl} onKey={(data) => controller.press(data)} onCtrl={() => controller.holdCtrl()} />;
}
