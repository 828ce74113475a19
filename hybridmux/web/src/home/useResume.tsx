import { useState } from "react";
import { claim, resumeSession } from "../session/commands";
import { RefusalDialog } from "../session/dialogs";
import { refusalOf, type Refusal } from "../session/moves";
import { go } from "../state/route";
import { t } from "../strings";
import { Banner } from "../ui/Banner";

/** Brings a session back and opens it; asks what the server needs to know. */
export function useResume(id: string) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [asked, setAsked] = useState({});

  const resume = async (change: { agentSessionId?: string; confirmWithoutEnv?: boolean } = {}) => {
    const body = { ...asked, ...change };
    setAsked(body);
    setBusy(true);
    setRefusal(null);
    try {
      claim(id);
      await resumeSession(id, body);
      go({ at: "session", id });
    } catch (error) {
      setRefusal(refusalOf(error, t.failure.resume));
    } finally {
      setBusy(false);
    }
  };
  const shown =
    refusal?.ask === "nothing" ? (
      <Banner level="error" title={refusal.title} onDismiss={() => setRefusal(null)}>
        {refusal.cause}
      </Banner>
    ) : (
      refusal && <RefusalDialog refusal={refusal} onRetry={(change) => void resume(change)} onClose={() => setRefusal(null)} />
    );
  return { busy, resume, shown };
}
