/** A switch or resume that this page asked for: running, refused with a question, or failed. Pure. */
import { ApiError } from "../net/api";
import { t } from "../strings";
import { cause } from "../ui/trouble";
import type { Candidate, ConnectorInfo } from "../wire/types";

export type Refusal =
  | { ask: "candidates"; gone: boolean; candidates: Candidate[] }
  | { ask: "connector"; connector: ConnectorInfo }
  | { ask: "config" }
  | { ask: "nothing"; title: string; cause: string };

/** What an error answer means for the person who asked. `title` heads what cannot be asked about. */
export function refusalOf(error: unknown, title: string): Refusal {
  if (!(error instanceof ApiError)) throw error;
  const { reason, body } = error;
  if (reason === "session_ambiguous" || reason === "session_missing")
    return { ask: "candidates", gone: reason === "session_missing", candidates: body.candidates ?? [] };
  if (reason === "connector_missing" && body.connector) return { ask: "connector", connector: body.connector };
  if (reason === "config_missing") return { ask: "config" };
  const own = body.eligibility && t.reason[body.eligibility];
  return { ask: "nothing", title, cause: stopped(own || cause(error)) };
}

/** The sentence with its full stop: another one may follow. */
const stopped = (sentence: string): string => (/[.!?…]$/.test(sentence) ? sentence : `${sentence}.`);
