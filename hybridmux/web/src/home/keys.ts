import { useEffect } from "react";

/** `j` and `k` walk over everything that can be opened, `n` goes to the first start; Enter is the browser's. */
export function useHomeKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      const step = { j: 1, k: -1 }[event.key];
      if (step === undefined && event.key !== "n") return;
      event.preventDefault();
      if (step === undefined) document.querySelector<HTMLElement>("[data-start]")?.focus();
      else move(step);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function move(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]:not(:disabled)")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step));
  rows[next]?.focus();
}
