import { Brain, FileText, Image, Layers, TriangleAlert } from "lucide-react";
import { memo, type ReactNode } from "react";
import { sentence, t } from "../strings";
import { between, duration } from "../ui/format";
import type { Content } from "../wire/types";
import type { CompactionItem, Item, MessageItem, NoticeItem, RequestItem, TurnItem } from "./fold";
import { Markdown } from "./Markdown";
import { ToolCard } from "./ToolCard";

/** One item of the timeline; drawn again only when the fold made a new object of it. */
export const ItemView = memo(function ItemView({ item }: { item: Item }): ReactNode {
  switch (item.kind) {
    case "message":
      return <Message item={item} />;
    case "tool":
      return <ToolCard item={item} />;
    case "turn":
      return <TurnLine item={item} />;
    case "request":
      return <RequestLine item={item} />;
    case "compaction":
      return <CompactionLine item={item} />;
    case "notice":
      return <NoticeLine item={item} />;
    case "marker":
      return <p className="marker">{sentence(t.marker, item.marker)}</p>;
    default:
      return null;
  }
});

function Message({ item }: { item: MessageItem }) {
  if (item.role === "thought") return <Thought item={item} />;
  const mine = item.role === "user";
  return (
    <article className={`message ${mine ? "user" : "agent"}`} aria-label={mine ? t.chat.you : t.chat.agent}>
      {item.content.map((content, index) => (
        <ContentView key={index} content={content} plain={mine} />
      ))}
    </article>
  );
}

function Thought({ item }: { item: MessageItem }) {
  return (
    <details className="thought">
      <summary>
        <Brain size={14} aria-hidden /> {t.chat.thought}
        <span className="thought-start">{item.content[0]?.text?.replace(/[*_`#]/g, "").slice(0, 120)}</span>
      </summary>
      {item.content.map((content, index) => (
        <ContentView key={index} content={content} />
      ))}
    </details>
  );
}

export function ContentView({ content, plain = false }: { content: Content; plain?: boolean }): ReactNode {
  switch (content.type) {
    case "text":
      return (
        <>
          {plain ? <p className="plain">{content.text}</p> : <Markdown text={content.text ?? ""} />}
          {content.truncated && <p className="cut">{t.chat.cut}</p>}
        </>
      );
    case "image":
    case "resource":
      return (
        <span className="chip">
          {content.type === "image" ? <Image size={14} aria-hidden /> : <FileText size={14} aria-hidden />}
          {content.name ?? content.mimeType}
          {content.size !== undefined && <small>{t.chat.size(content.size)}</small>}
        </span>
      );
    default:
      return <p className="cut">{t.chat.unsupported(content.was ?? content.type)}</p>;
  }
}

/** How long a turn took is news only from here on. */
const WORTH_SAYING_MS = 2_000;

function TurnLine({ item }: { item: TurnItem }) {
  const why = sentence(t.stop, item.stopReason ?? "end_turn");
  const lasted = item.startedAt && item.endedAt ? between(item.startedAt, item.endedAt) : 0;
  const time = lasted >= WORTH_SAYING_MS ? duration(lasted) : "";
  const bad = item.stopReason === "error" || item.stopReason === "auth_required";
  const words = [time, why, item.error].filter(Boolean).join(" · ");
  if (!words) return null;
  return <p className={`turn-line ${bad ? "bad" : ""}`}>{words}</p>;
}

function RequestLine({ item }: { item: RequestItem }) {
  if (item.outcome === undefined) return null; // it stands above the composer
  const chosen = item.options?.find((option) => option.optionId === item.outcome)?.name;
  return (
    <p className="request-line">
      {item.title} · {chosen ?? sentence(t.permission.outcome, item.outcome)}
    </p>
  );
}

function CompactionLine({ item }: { item: CompactionItem }) {
  const done = item.status === "completed" || item.status === "failed";
  return (
    <details className="thought">
      <summary>
        <Layers size={14} aria-hidden /> {done ? t.compaction.done : t.compaction.running}
      </summary>
      <Markdown text={item.text ?? ""} />
    </details>
  );
}

function NoticeLine({ item }: { item: NoticeItem }) {
  return (
    <p className={`notice ${item.level ?? "info"}`} role={item.level === "error" ? "alert" : undefined}>
      {item.level !== "info" && <TriangleAlert size={14} aria-hidden />}
      {item.text}
    </p>
  );
}
