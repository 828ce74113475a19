import { ApiError } from "../net/api";
import { sentence, t } from "../strings";

/** What went wrong, as a sentence: the server's own, else ours for its reason. */
export function cause(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  if (error.status === 0) return t.failure.unreachable;
  if (error.body.error) return error.body.error;
  return error.reason ? sentence(t.reason, error.reason) : t.failure.request;
}
