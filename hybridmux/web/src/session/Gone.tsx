import { ArrowLeft } from "lucide-react";
import { hrefOf } from "../state/route";
import { t } from "../strings";
import type { HybridRecord, SessionInfo } from "../wire/types";
import { RecordRow } from "../home/RecordRow";

/** The session is over, or was never there: what can be done about it. */
export function Gone({ session, record }: { session: SessionInfo | undefined; record: HybridRecord | undefined }) {
  const known = session ?? record;
  return (
    <main className="gone">
      <h1>{known ? known.title || known.name : t.app}</h1>
      <p>{known ? t.session.ended : t.session.missing}</p>
      {record && record.state !== "active" && (
        <ul className="rows">
          <RecordRow record={record} />
        </ul>
      )}
      <a className="button" href={hrefOf({ at: "home" })}>
        <ArrowLeft size={14} aria-hidden /> {t.session.back}
      </a>
    </main>
  );
}
