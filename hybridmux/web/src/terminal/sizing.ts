/** Who the size of a terminal follows: pure, apart from `ask`. */

export interface Size {
  cols: number;
  rows: number;
}

export const same = (a: Size | null, b: Size | null): boolean => a?.cols === b?.cols && a?.rows === b?.rows;

/**
 * One viewer's part in the size. The owner asks for what fits its window; one question is open at a time, so
 * that an answer is never taken for somebody else's wish. A size that nobody here asked for is somebody
 * else's: they own it until somebody types here.
 */
export class Sizing {
  #wanted: Size;
  #actual: Size | null = null;
  #asked: Size | null = null;
  #live = false;

  constructor(
    wanted: Size,
    private owner: boolean,
    private readonly ask: (size: Size) => void,
  ) {
    this.#wanted = wanted;
  }

  /** Another device's size is on the screen. */
  get foreign(): boolean {
    return this.#live && !this.owner && !same(this.#wanted, this.#actual);
  }

  measured(wanted: Size): void {
    this.#wanted = wanted;
    this.#settle();
  }

  told(actual: Size): void {
    const first = !this.#live;
    const ours = same(actual, this.#asked);
    if (ours) this.#asked = null;
    this.#actual = actual;
    // What fits exactly is ours after a reload too.
    if (same(actual, this.#wanted)) this.owner = true;
    else if (!first && !ours && !this.#asked) this.owner = false;
    this.#settle();
  }

  /** Connected and drawn, or not any more. */
  live(live: boolean): void {
    this.#live = live;
    this.#asked = null;
    this.#settle();
  }

  claim(): void {
    this.owner = true;
    this.#settle();
  }

  #settle(): void {
    if (!this.#live || !this.owner || this.#asked || same(this.#wanted, this.#actual)) return;
    this.#asked = this.#wanted;
    this.ask(this.#wanted);
  }
}
