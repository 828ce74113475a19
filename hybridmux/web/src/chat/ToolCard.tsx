import {
  ArrowRightLeft, Brain, Check, ChevronRight, Circle, FilePen, FileText, Globe, LoaderCircle, Search, SquareTerminal, Trash2, Wrench, X,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";
import { sentence, t } from "../strings";
import { DiffView } from "./DiffView";
import type { ToolItem } from "./fold";
import { ContentView } from "./ItemView";
import { Markdown } from "./Markdown";
import { Plain } from "./Plain";
import { inputOf, outputOf, pieces, startsOpen, type Piece } from "./tool";

const KINDS: Record<string, LucideIcon> = {
  read: FileText, edit: FilePen, delete: Trash2, move: ArrowRightLeft, search: Search, execute: SquareTerminal, think: Brain, fetch: Globe,
};

function Status({ status = "pending" }: { status?: string }) {
  const name = sentence(t.tool.status, status);
  const icon =
    status === "completed" ? <Check size={14} aria-hidden /> :
    status === "failed" || status === "cancelled" ? <X size={14} aria-hidden /> :
    status === "in_progress" ? <LoaderCircle size={14} className="spin" aria-hidden /> : <Circle size={12} aria-hidden />;
  return (
    <span className={`tool-status ${status}`} title={name}>
      {icon}
      <span className="sr">{name}</span>
    </span>
  );
}

export function ToolCard({ item }: { item: ToolItem }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? startsOpen(item);
  const Icon = KINDS[item.toolKind ?? ""] ?? Wrench;
  return (
    <article className="tool" aria-label={`${t.tool.untitled}: ${item.title ?? ""}`}>
      <button type="button" className="tool-head" aria-expanded={open} onClick={() => setChosen(!open)}>
        <Icon size={14} aria-hidden />
        <span className="tool-title">{item.title ?? t.tool.untitled}</span>
        <Status status={item.status} />
        <ChevronRight size={14} className={open ? "turned" : ""} aria-hidden />
      </button>
      {open && <Body item={item} />}
    </article>
  );
}

function Body({ item }: { item: ToolItem }) {
  const input = inputOf(item);
  const output = outputOf(item);
  const said = item.title?.replaceAll("`", "").trim();
  const ended = output && (output.signal ?? (output.exitCode ? `exit ${output.exitCode}` : null));
  return (
    <div className="tool-body">
      {input !== null && input.trim() !== said && <Plain label={t.tool.input} text={input} most={6} />}
      {pieces(item).map((each, index) => (
        <PieceView key={index} piece={each} />
      ))}
      {output && <Plain label={t.tool.output} text={output.text} most={16} truncated={output.truncated} />}
      {ended && <p className="cut">{ended}</p>}
    </div>
  );
}

function PieceView({ piece }: { piece: Piece }) {
  if (piece.type === "diff") return <DiffView diff={piece} />;
  if (piece.type === "other") return <ContentView content={piece.content} />;
  return (
    <>
      <Markdown text={piece.text} />
      {piece.truncated && <p className="cut">{t.chat.cut}</p>}
    </>
  );
}
