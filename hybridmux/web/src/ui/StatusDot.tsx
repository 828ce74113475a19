import { sentence, t } from "../strings";
import type { SessionInfo } from "../wire/types";

export function StatusDot({ session }: { session: Pick<SessionInfo, "status" | "attention"> }) {
  const status = session.attention ? "waiting" : session.status;
  const words = sentence(t.status, status);
  return <span className={`dot ${status}`} role="img" aria-label={words} title={words} />;
}
