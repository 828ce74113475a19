/** What a connection does after it closed: pure, so that every close code can be tested. */

export type AfterClose =
  | { do: "leave"; why: "missing" | "ended" }
  | { do: "moved" }
  | { do: "resume"; delay: number }
  | { do: "retry"; delay: number };

const FIRST_MS = 500;
const MOST_MS = 15_000;

/** The wait before attempt `n` (0 is at once), half of it random so that clients do not return together. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  if (attempt <= 0) return 0;
  const full = Math.min(MOST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(full / 2 + (full / 2) * random());
}

/** `attempt` counts the closes since data last arrived. */
export function afterClose(code: number, attempt: number, random: () => number = Math.random): AfterClose {
  switch (code) {
    case 4404:
      return { do: "leave", why: "missing" };
    case 4410:
      return { do: "leave", why: "ended" };
    case 4409:
      return { do: "moved" };
    case 4408:
    case 1013:
      return { do: "resume", delay: backoff(attempt, random) };
    default:
      return { do: "retry", delay: backoff(attempt, random) };
  }
}
