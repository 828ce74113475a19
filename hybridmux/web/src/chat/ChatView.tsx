import { t } from "../strings";
import type { ChatState } from "../wire/types";
import type { ChatView as View } from "./channel";
import { Composer } from "./Composer";
import { Options } from "./Options";
import { Plan } from "./Plan";
import { Queue } from "./Queue";
import { Requests } from "./Requests";
import { TimelineView } from "./TimelineView";

interface Props {
  id: string;
  view: View;
  /** False while the session moves: what is there stays readable and takes no input. */
  active: boolean;
}

export function ChatView({ id, view, active }: Props) {
  const { state } = view;
  return (
    <section className="chat" aria-label={t.chat.label}>
      <TimelineView key={view.generation} view={view} />
      {state && active && (
        <div className="dock">
          <Plan entries={state.plan} />
          <Requests requests={state.requests} />
          <Queue queue={state.queue} />
          <Notes state={state} />
          <Composer id={id} state={state} />
          <Options state={state} />
        </div>
      )}
    </section>
  );
}

/** Quiet lines about the chat as a whole. */
function Notes({ state }: { state: ChatState }) {
  const lines = [
    state.dormant && t.session.asleep,
    state.authRequired && t.session.authRequired,
    state.queueLost > 0 && t.session.queueLost(state.queueLost),
    state.idChange && `${t.session.idChange} ${state.idChange.reason}`,
    ...state.outdated.map(({ name, version, verified }) => t.session.outdated(name, version, verified)),
  ].filter((line): line is string => typeof line === "string");
  return lines.map((line) => (
    <p key={line} className="state-line" role="status">
      {line}
    </p>
  ));
}
