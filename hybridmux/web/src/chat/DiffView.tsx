import { Columns2, Rows2 } from "lucide-react";
import { useMemo, useState } from "react";
import { t } from "../strings";
import { shortPath } from "../ui/format";
import { countOf, diffLines, sideBySide, type Line } from "./diff";
import { Plain } from "./Plain";
import type { Diff } from "./tool";

const MOST = 40;

export function DiffView({ diff }: { diff: Diff }) {
  const lines = useMemo(() => diffLines(diff.oldText ?? "", diff.newText), [diff.oldText, diff.newText]);
  const [wide, setWide] = useState(false);
  const [all, setAll] = useState(false);
  if (!lines) return <Plain label={diff.path} text={diff.newText} most={MOST} truncated={diff.truncated} />;
  const rows = wide ? sideBySide(lines) : lines;
  const more = all ? 0 : Math.max(0, rows.length - MOST);
  const shown = more > 0 ? rows.slice(0, MOST) : rows;
  const name = wide ? t.tool.inline : t.tool.sideBySide;
  return (
    <div className="diff">
      <div className="diff-head">
        <span className="diff-path">{shortPath(diff.path)}</span>
        {diff.oldText === null && <small>{t.tool.newFile}</small>}
        <span className="diff-count">
          <ins>+{countOf(lines, "added")}</ins> <del>−{countOf(lines, "removed")}</del>
        </span>
        <button type="button" className="icon-button small wide-only" aria-label={name} title={name} onClick={() => setWide(!wide)}>
          {wide ? <Rows2 size={14} aria-hidden /> : <Columns2 size={14} aria-hidden />}
        </button>
      </div>
      <div className="diff-scroll" tabIndex={0}>
        <table>
          <tbody>{wide ? (shown as Pair[]).map(pairRow) : (shown as Line[]).map(lineRow)}</tbody>
        </table>
      </div>
      {more > 0 && (
        <button type="button" className="link" onClick={() => setAll(true)}>
          {t.tool.more(more)}
        </button>
      )}
      {diff.truncated && <p className="cut">{t.chat.cut}</p>}
    </div>
  );
}

type Pair = ReturnType<typeof sideBySide>[number];
const SIGNS = { same: " ", added: "+", removed: "−", gap: "⋯" };

function lineRow(line: Line, index: number) {
  return (
    <tr key={index} className={line.kind}>
      <td className="number">{line.before}</td>
      <td className="number">{line.after}</td>
      <td className="sign">{SIGNS[line.kind]}</td>
      <td className="text">{line.text}</td>
    </tr>
  );
}

function pairRow([left, right]: Pair, index: number) {
  return (
    <tr key={index}>
      <td className={`number ${left?.kind ?? "none"}`}>{left?.before}</td>
      <td className={`text half ${left?.kind ?? "none"}`}>{left?.kind === "gap" ? SIGNS.gap : left?.text}</td>
      <td className={`number ${right?.kind ?? "none"}`}>{right?.after}</td>
      <td className={`text half ${right?.kind ?? "none"}`}>{right?.text}</td>
    </tr>
  );
}
