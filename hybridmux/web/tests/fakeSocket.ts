/** A WebSocket without a network: the test is the server. */
export class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  static get last(): FakeSocket {
    return this.all.at(-1)!;
  }

  readyState = 0;
  binaryType = "";
  sent: (string | Uint8Array)[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  get query(): URLSearchParams {
    return new URL(this.url).searchParams;
  }
  get told(): unknown[] {
    return this.sent.filter((data) => typeof data === "string").map((data) => JSON.parse(data));
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  close(): void {
    this.closed = true;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  text(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  bytes(count: number): void {
    this.onmessage?.({ data: new Uint8Array(count).fill(120).buffer });
  }
  end(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}
