/** When somebody last typed: what appears in the middle of a sentence must not take its keys. */
let last = -Infinity;

window.addEventListener("keydown", () => (last = performance.now()), true);

export const msSinceTyping = (): number => performance.now() - last;
