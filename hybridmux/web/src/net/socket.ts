import { probe } from "./auth";
import { afterClose, backoff } from "./backoff";
import { auth, offline } from "./link";

export type SocketStatus = "connecting" | "open" | "waiting" | "moved" | "missing" | "ended" | "closed";

export interface SocketOptions {
  /** Path and query of the next attempt: positions are read at that moment. */
  url: () => string;
  onText: (text: string) => void;
  onBinary?: (data: Uint8Array) => void;
  onStatus?: (status: SocketStatus) => void;
}

/** How long a 4409 is taken at its word before the connection asks again by itself. */
const MOVED_MS = 1_500;

/** One WebSocket that comes back by itself, as the close codes say. */
export class Socket {
  #ws: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #stopped = false;
  #status: SocketStatus = "connecting";

  constructor(private readonly options: SocketOptions) {
    window.addEventListener("online", this.#now);
    document.addEventListener("visibilitychange", this.#visible);
    this.#connect();
  }

  get status(): SocketStatus {
    return this.#status;
  }

  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#ws?.readyState !== WebSocket.OPEN) return false;
    this.#ws.send(data);
    return true;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    window.removeEventListener("online", this.#now);
    document.removeEventListener("visibilitychange", this.#visible);
    this.#drop();
    this.#set("closed");
  }

  #drop(): void {
    const ws = this.#ws;
    this.#ws = null;
    if (!ws) return;
    ws.onopen = ws.onmessage = ws.onclose = null;
    ws.close();
  }

  #set(status: SocketStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.options.onStatus?.(status);
  }

  /** The network or the tab came back: no reason to sit out the rest of a backoff. */
  #now = (): void => {
    if (this.#status !== "waiting" || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#connect();
  };

  #visible = (): void => {
    if (document.visibilityState === "visible") this.#now();
  };

  #connect(): void {
    this.#set("connecting");
    const origin = location.origin.replace(/^http/, "ws");
    const ws = new WebSocket(origin + this.options.url());
    let opened = false;
    ws.binaryType = "arraybuffer";
    this.#ws = ws;
    ws.onopen = () => {
      opened = true;
      offline.set(false);
      this.#set("open");
    };
    ws.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.#attempt = 0;
      if (typeof event.data === "string") this.options.onText(event.data);
      else this.options.onBinary?.(new Uint8Array(event.data));
    };
    ws.onclose = (event) => void this.#closed(event.code, opened);
  }

  async #closed(code: number, opened: boolean): Promise<void> {
    this.#ws = null;
    const next = afterClose(code, this.#attempt++);
    if (next.do === "leave") return this.#set(next.why);
    if (next.do === "moved") {
      this.#set("moved");
      return this.#later(MOVED_MS + backoff(this.#attempt));
    }
    this.#set("waiting");
    if (!opened) await this.#ask();
    if (!this.#stopped && auth.get() !== "out") this.#later(next.delay);
  }

  /** An upgrade that fails says nothing to a browser: one plain request tells 401 from a dead network. */
  async #ask(): Promise<void> {
    offline.set(true);
    await probe();
  }

  #later(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), delay);
  }
}
