import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { t } from "../strings";
import { copyText } from "./clipboard";

export function CopyButton({ text, label = t.copy, words = false }: { text: string; label?: string; words?: boolean }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied(await copyText(text));
  const shown = copied ? t.copied : label;
  return (
    <button type="button" className={words ? "button" : "icon-button small"} aria-label={shown} title={shown} onClick={() => void copy()}>
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      {words && <span>{shown}</span>}
    </button>
  );
}
