/** Byte positions of one terminal stream: what arrived, what is drawn, what the server was told. Pure. */
const EVERY = 256 * 1024;

export class Acks {
  received: number;
  #drawn: number;
  #told: number;

  constructor(offset: number) {
    this.received = this.#drawn = this.#told = offset;
  }

  arrived(bytes: number): void {
    this.received += bytes;
  }

  /** `bytes` more are drawn: the offset to acknowledge when enough has come together, else null. */
  drew(bytes: number): number | null {
    this.#drawn += bytes;
    return this.#drawn - this.#told >= EVERY ? this.settle() : null;
  }

  /** The offset to acknowledge now, or null when there is nothing to tell. */
  settle(): number | null {
    if (this.#drawn === this.#told) return null;
    this.#told = this.#drawn;
    return this.#drawn;
  }
}
