import { useState } from "react";
import { t } from "../strings";
import { capped } from "./tool";
import { withoutColours } from "./ansi";

interface Props {
  label: string;
  text: string;
  /** Lines shown until somebody asks for the rest. */
  most: number;
  truncated?: boolean;
}

/** Text as a program wrote it, a few lines first. */
export function Plain({ label, text, most, truncated = false }: Props) {
  const [all, setAll] = useState(false);
  const { shown, more } = capped(withoutColours(text), all ? Infinity : most);
  return (
    <div className="plain-block">
      <pre tabIndex={0} aria-label={label}>
        {shown}
      </pre>
      {more > 0 && (
        <button type="button" className="link" onClick={() => setAll(true)}>
          {t.tool.more(more)}
        </button>
      )}
      {truncated && more === 0 && <p className="cut">{t.chat.cut}</p>}
    </div>
  );
}
