import { useEffect, useRef, useState } from "react";
import { ApiError } from "../net/api";
import { t } from "../strings";
import type { Choice, HybridInfo, Place, SwitchResult } from "../wire/types";
import { choose, claim, switchTo } from "./commands";
import { refusalOf, type Refusal } from "./moves";

/** The side where the session is, or was when it began to move; null when that was before this page looked. */
export function useStandingSide(hybrid: HybridInfo | undefined): Place | null {
  const standing = useRef<Place | null>(null);
  if (hybrid && hybrid.side !== "switching") standing.current = hybrid.side;
  return standing.current;
}

/** Moves the session and keeps what came of it: a refusal, or what could not come along. */
export function useSwitch(id: string, trouble: (error: unknown) => void) {
  const [refusal, setRefusal] = useState<(Refusal & { to: Place }) | null>(null);
  const [result, setResult] = useState<SwitchResult | null>(null);
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => void (mounted.current = false);
  }, []);

  const start = async (to: Place, agentSessionId?: string) => {
    setRefusal(null);
    setResult(null);
    if (to === "tui") claim(id);
    try {
      const moved = await switchTo(id, to, agentSessionId);
      if (mounted.current) setResult(moved);
    } catch (error) {
      if (mounted.current) setRefusal({ ...refusalOf(error, t.failure.switch(t.side[to])), to });
    }
  };
  const decide = async (choice: Choice) => {
    try {
      await choose(id, choice);
    } catch (error) {
      // Somebody else was faster: the phase already says what was decided.
      if (!(error instanceof ApiError && error.reason === "answered")) trouble(error);
    }
  };
  return { refusal, result, start, decide, clearRefusal: () => setRefusal(null), clearResult: () => setResult(null) };
}
