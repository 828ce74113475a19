import { useEffect } from "react";
import { path } from "../net/api";
import { lists } from "../state/events";
import { ended, recoverable, running } from "../state/lists";
import { useStore } from "../state/store";
import { t } from "../strings";
import { Banner } from "../ui/Banner";
import type { HybridRecord } from "../wire/types";
import { useHomeKeys } from "./keys";
import { RecordRow } from "./RecordRow";
import { EndedRow, SessionRow } from "./SessionRow";
import { Starts } from "./Starts";
import { useRead } from "./useRead";

export function Home() {
  const all = useStore(lists);
  const [live, over, back] = [running(all), ended(all), recoverable(all)];
  const { problem } = useRead<HybridRecord[]>(path("hybrid-sessions"));
  const wanting = live.filter((session) => session.attention).length;
  useHomeKeys();
  useEffect(() => {
    document.title = wanting > 0 ? `(${wanting}) ${t.app}` : t.app;
  }, [wanting]);
  return (
    <main className="home">
      <header className="home-header">
        <h1>{t.app}</h1>
        <p className="keys">{t.home.keys}</p>
      </header>
      <section aria-labelledby="running">
        <h2 id="running">{t.home.running}</h2>
        {!all.ready && <p className="empty">{t.loading}</p>}
        {all.ready && live.length === 0 && <p className="empty">{t.home.none}</p>}
        <ul className="rows">{live.map((session) => <SessionRow key={session.id} session={session} />)}</ul>
      </section>
      <Starts />
      {(problem || back.length > 0) && (
        <section aria-labelledby="recover">
          <h2 id="recover">{t.home.recover}</h2>
          {problem && <Banner level="error" title={t.home.noRecords}>{problem}</Banner>}
          <ul className="rows">{back.map((record) => <RecordRow key={record.id} record={record} />)}</ul>
        </section>
      )}
      {over.length > 0 && (
        <section aria-labelledby="ended">
          <h2 id="ended">{t.home.ended}</h2>
          <ul className="rows">{over.map((session) => <EndedRow key={session.id} session={session} />)}</ul>
        </section>
      )}
    </main>
  );
}
