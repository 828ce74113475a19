import { Check, Circle, CircleDot } from "lucide-react";
import { t } from "../strings";
import type { PlanEntry } from "../wire/types";

const mark = (status: string) =>
  status === "completed" ? <Check size={14} aria-hidden /> :
  status === "in_progress" ? <CircleDot size={14} aria-hidden /> : <Circle size={14} aria-hidden />;

export function Plan({ entries }: { entries: PlanEntry[] }) {
  const done = entries.filter((entry) => entry.status === "completed").length;
  if (done === entries.length) return null; // also when there is none
  const current = entries.find((entry) => entry.status === "in_progress");
  return (
    <details className="plan">
      <summary>
        {t.plan.title(done, entries.length)}
        {current && <span className="plan-current">{current.content}</span>}
      </summary>
      <ol>
        {entries.map((entry, index) => (
          <li key={index} className={entry.status}>
            {mark(entry.status)}
            <span>{entry.content}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
