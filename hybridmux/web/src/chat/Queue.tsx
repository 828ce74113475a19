import { ArrowUp, Paperclip, Pencil, SendHorizontal, X } from "lucide-react";
import { useState, type FormEvent } from "react";
import { t } from "../strings";
import type { ChatState, QueueItem } from "../wire/types";
import { useChat } from "./context";

export function Queue({ queue }: { queue: ChatState["queue"] }) {
  const { commands, run } = useChat();
  if (queue.items.length === 0) return null;
  return (
    <div className="queue" role="group" aria-label={t.queue.title(queue.items.length)}>
      <div className="queue-head">
        <span>{t.queue.title(queue.items.length)}</span>
        {queue.paused && (
          <>
            <span className="paused">{t.queue.paused}</span>
            <button type="button" className="link" onClick={() => void run(commands.resumeQueue)}>{t.queue.resume}</button>
          </>
        )}
        <button type="button" className="link" onClick={() => void run(commands.clearQueue)}>{t.queue.clear}</button>
      </div>
      <ol>
        {queue.items.map((item, index) => <Row key={item.id} item={item} first={index === 0} />)}
      </ol>
    </div>
  );
}

function Row({ item, first }: { item: QueueItem; first: boolean }) {
  const { commands, run } = useChat();
  const [editing, setEditing] = useState(false);
  if (editing) return <Editor item={item} onDone={() => setEditing(false)} />;
  const act = (name: string, icon: React.ReactNode, action: () => Promise<unknown>) => (
    <button type="button" className="icon-button small" aria-label={`${name}: ${item.text}`} title={name} onClick={() => void run(action)}>
      {icon}
    </button>
  );
  return (
    <li>
      <span className="queue-text">{item.text}</span>
      {item.attachments.length > 0 && <span className="chip"><Paperclip size={12} aria-hidden />{item.attachments.length}</span>}
      {!first && act(t.queue.up, <ArrowUp size={14} aria-hidden />, () => commands.moveUp(item.id))}
      {act(t.queue.edit, <Pencil size={14} aria-hidden />, async () => setEditing(true))}
      {act(t.queue.now, <SendHorizontal size={14} aria-hidden />, () => commands.sendNow(item.id))}
      {act(t.queue.remove, <X size={14} aria-hidden />, () => commands.remove(item.id))}
    </li>
  );
}

function Editor({ item, onDone }: { item: QueueItem; onDone: () => void }) {
  const { commands, run } = useChat();
  const [text, setText] = useState(item.text);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (await run(() => commands.edit(item.id, text))) onDone();
  };
  return (
    <li>
      <form className="queue-editor" onSubmit={(event) => void save(event)}>
        <textarea
          autoFocus
          aria-label={t.queue.text}
          value={text}
          rows={Math.min(6, text.split("\n").length)}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onDone()}
        />
        <button type="submit" className="button">{t.queue.save}</button>
        <button type="button" className="button" onClick={onDone}>{t.cancel}</button>
      </form>
    </li>
  );
}
