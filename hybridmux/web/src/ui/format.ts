/** Seconds as people read them on a stopwatch: `4 s`, `1:05`, `1:02:03`. */
export function duration(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  if (hours > 0) return `${hours}:${two(minutes)}:${two(seconds)}`;
  return minutes > 0 ? `${minutes}:${two(seconds)}` : `${seconds} s`;
}

/** Milliseconds between two times; 0 when one of them is no time. */
export const between = (from: string, to: string): number => Date.parse(to) - Date.parse(from) || 0;

const STEPS: [limit: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [60, "second", 1],
  [3600, "minute", 60],
  [86_400, "hour", 3600],
  [Infinity, "day", 86_400],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });

/** `5 min. ago`; the empty string for no or a bad time. */
export function ago(time: string | null, now = Date.now()): string {
  const at = time === null ? NaN : Date.parse(time);
  if (Number.isNaN(at)) return "";
  const seconds = Math.max(0, (now - at) / 1000);
  if (seconds < 45) return "now";
  const [, unit, size] = STEPS.find(([limit]) => seconds < limit) ?? STEPS[3]!;
  return relative.format(-Math.round(seconds / size), unit);
}

/** `950`, `12.3k`, `1.2M`. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  const [scaled, unit] = value < 1e6 ? [value / 1e3, "k"] : [value / 1e6, "M"];
  return `${scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1).replace(/\.0$/, "")}${unit}`;
}

/** The end of a long path: where one is matters more than the way there. */
export const shortPath = (path: string): string => path.replace(/^\/(?:home\/[^/]+|root)(?=\/|$)/, "~");
