import { useEffect, useMemo, useRef, useState } from "react";
import { BLANK, ChatChannel, type ChatView as View } from "../chat/channel";
import { ChatView } from "../chat/ChatView";
import { commandsOf } from "../chat/commands";
import { ChatContext } from "../chat/context";
import { Store, useStore } from "../state/store";
import { go } from "../state/route";
import { lists } from "../state/events";
import { sentence, t } from "../strings";
import { TerminalView, type TerminalHandle } from "../terminal/TerminalView";
import { Banner } from "../ui/Banner";
import { cause } from "../ui/trouble";
import type { SessionInfo } from "../wire/types";
import { Gone } from "./Gone";
import { ChoiceDialog, ConfirmDialog, RefusalDialog } from "./dialogs";
import { closeSession, isClaimed } from "./commands";
import { Header } from "./Header";
import { Leftovers } from "./Leftovers";
import { useStandingSide, useSwitch } from "./useSwitch";

const NOTHING = new Store<View>(BLANK);

/** The chat channel of a hybrid session: it is kept on either side, for its state. */
function useChannel(id: string, hybrid: boolean): View {
  const [channel, setChannel] = useState<ChatChannel | null>(null);
  useEffect(() => {
    if (!hybrid) return;
    const made = new ChatChannel(id);
    setChannel(made);
    return () => {
      made.stop();
      setChannel(null);
    };
  }, [id, hybrid]);
  return useStore(channel?.view ?? NOTHING);
}

export function SessionScreen({ id }: { id: string }) {
  const { ready, sessions, records } = useStore(lists);
  const session = sessions.get(id);
  useEffect(() => {
    document.title = session ? `${session.title || session.name} · ${t.app}` : t.app;
  }, [session]);
  if (!ready) return <p className="empty">{t.loading}</p>;
  const over = !session || (session.hybrid ? session.hybrid.state !== "active" : false);
  if (over) return <Gone session={session} record={records.get(id)} />;
  return <Live session={session} />;
}

function Live({ session }: { session: SessionInfo }) {
  const { id, hybrid } = session;
  const view = useChannel(id, hybrid !== undefined);
  const [failure, setFailure] = useState<{ title?: string; cause: string } | null>(null);
  const [closing, setClosing] = useState(false);
  const [undecided, setUndecided] = useState(true);
  const terminal = useRef<TerminalHandle>(null);
  const standing = useStandingSide(hybrid);
  const trouble = (error: unknown) => setFailure({ cause: cause(error) });
  const { refusal, result, start, decide, clearRefusal, clearResult } = useSwitch(id, trouble);
  const choosing = hybrid?.phase === "awaiting_choice";
  useEffect(() => setUndecided(true), [choosing]);

  const chat = useMemo(
    () => ({
      commands: commandsOf(id),
      run: async (action: () => Promise<unknown>) => {
        try {
          await action();
          return true;
        } catch (error) {
          setFailure({ cause: cause(error) });
          return false;
        }
      },
    }),
    [id],
  );
  const close = async () => {
    setClosing(false);
    try {
      await closeSession(id);
      go({ at: "home" });
    } catch (error) {
      trouble(error);
    }
  };
  const shown = hybrid ? standing : "tui";
  return (
    <ChatContext value={chat}>
      <main className="session">
        <Header session={session} state={view.state} from={standing} onSwitch={(to) => void start(to)} onChoose={() => setUndecided(true)} onClose={() => setClosing(true)} />
        {view.status === "waiting" && <p className="state-line" role="status">{t.reconnecting}</p>}
        {failure && <Banner level="error" title={failure.title} onDismiss={() => setFailure(null)}>{failure.cause}</Banner>}
        {refusal?.ask === "nothing" && (
          <Banner level="error" title={refusal.title} onDismiss={clearRefusal}>
            {refusal.cause} <Whereabouts session={session} />
          </Banner>
        )}
        {result && <Leftovers result={result} onInsert={(text) => terminal.current?.paste(text)} onDismiss={clearResult} />}
        <div className={`view ${hybrid?.side === "switching" ? "moving" : ""}`}>
          {shown === "tui" && <TerminalView id={id} active={!hybrid || hybrid.side === "tui"} claim={isClaimed(id)} handle={terminal} />}
          {shown === "acp" && <ChatView id={id} view={view} active={hybrid?.side === "acp"} />}
        </div>
        {choosing && undecided && <ChoiceDialog note={view.state?.forceSwitchNote ?? null} onChoice={(choice) => void decide(choice)} onClose={() => setUndecided(false)} />}
        {refusal && refusal.ask !== "nothing" && (
          <RefusalDialog refusal={refusal} onRetry={({ agentSessionId }) => void start(refusal.to, agentSessionId)} onClose={clearRefusal} />
        )}
        {closing && <ConfirmDialog title={t.session.close} text={hybrid ? t.session.closeAsk : t.session.closeTerminalAsk} onYes={() => void close()} onClose={() => setClosing(false)} />}
      </main>
    </ChatContext>
  );
}

/** Where a failed switch left the session. */
function Whereabouts({ session: { hybrid } }: { session: SessionInfo }) {
  if (!hybrid || hybrid.side === "switching") return null;
  const where = hybrid.state === "active" ? t.failure.back(t.side[hybrid.side]) : sentence(t.state, hybrid.state);
  return <>{t.failure.now(where)}</>;
}
