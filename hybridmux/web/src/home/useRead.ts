import { useEffect, useState } from "react";
import { ApiError, call } from "../net/api";

interface Reading<T> {
  value: T | null;
  /** What the server says against it: a store that cannot be used, with its path. */
  problem: string | null;
}

/** A GET at the start; tried again as long as the server is away. */
export function useRead<T>(path: string): Reading<T> {
  const [reading, setReading] = useState<Reading<T>>({ value: null, problem: null });
  useEffect(() => {
    let gone = false;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      try {
        const value = await call<T>("GET", path);
        if (!gone) setReading({ value, problem: null });
      } catch (error) {
        if (gone || !(error instanceof ApiError)) return;
        if (error.status === 0) timer = setTimeout(() => void read(), 2000);
        else if (error.status !== 401) setReading({ value: null, problem: error.message });
      }
    };
    void read();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [path]);
  return reading;
}
