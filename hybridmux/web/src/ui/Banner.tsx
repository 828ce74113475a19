import { Info, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../strings";

interface Props {
  level?: "info" | "error";
  title?: string;
  children?: ReactNode;
  onDismiss?: () => void;
}

/** A line across the page that stays until it is dismissed. */
export function Banner({ level = "info", title, children, onDismiss }: Props) {
  return (
    <div className={`banner ${level}`} role={level === "error" ? "alert" : "status"}>
      {level === "error" ? <TriangleAlert size={16} aria-hidden /> : <Info size={16} aria-hidden />}
      <div className="banner-text">
        {title && <strong>{title}</strong>} {children}
      </div>
      {onDismiss && (
        <button type="button" className="icon-button small" aria-label={t.dismiss} onClick={onDismiss}>
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}
