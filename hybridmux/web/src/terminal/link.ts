import { Socket, type SocketStatus } from "../net/socket";
import type { Hello, TerminalCommand, TerminalFrame } from "../wire/types";
import { Acks } from "./acks";
import { pieces } from "./replies";

/** What draws the bytes. */
export interface Screen {
  reset(): void;
  /** `drawn` is called when these bytes are on the screen. */
  write(data: Uint8Array, drawn: () => void): void;
  resized(cols: number, rows: number): void;
}

export interface LinkEvents {
  status(status: SocketStatus): void;
  /** The scrollback is drawn: what is typed from now on is for the program. */
  live(live: boolean): void;
  hello(hello: Hello): void;
  exit(code: number): void;
}

const encoder = new TextEncoder();
const IDLE_MS = 1_000;

/** One viewer of a terminal: byte positions over reconnects, acknowledgements, sizes. */
export class TerminalLink {
  #epoch: string | null = null;
  #acks = new Acks(0);
  #socket: Socket;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    id: string,
    private readonly screen: Screen,
    private readonly events: LinkEvents,
  ) {
    this.#socket = new Socket({
      url: () => `/ws/s/${encodeURIComponent(id)}?${this.#query()}`,
      onText: (text) => this.#frame(JSON.parse(text) as TerminalFrame),
      onBinary: (data) => this.#bytes(data),
      onStatus: (status) => {
        if (status !== "open") this.events.live(false);
        this.events.status(status);
      },
    });
  }

  stop(): void {
    clearTimeout(this.#idle);
    this.#socket.stop();
  }

  input(bytes: Uint8Array<ArrayBuffer>): void {
    for (const piece of pieces(bytes)) this.#socket.send(piece);
  }

  resize(cols: number, rows: number): void {
    this.#tell({ type: "resize", cols, rows });
  }

  #query(): string {
    const query = new URLSearchParams({ flow: "ack" });
    if (this.#epoch !== null) {
      query.set("epoch", this.#epoch);
      query.set("offset", String(this.#acks.received));
    }
    return query.toString();
  }

  #tell(frame: TerminalCommand): void {
    this.#socket.send(JSON.stringify(frame));
  }

  #frame(frame: TerminalFrame): void {
    switch (frame.type) {
      case "hello":
        return this.#hello(frame);
      case "live":
        // An empty write comes back when everything before it is drawn.
        return this.screen.write(new Uint8Array(), () => this.events.live(true));
      case "resize":
        return this.screen.resized(frame.cols, frame.rows);
      case "exit":
        return this.events.exit(frame.exitCode);
      default: // titles come with the session's info, pongs say nothing
    }
  }

  #hello(hello: Hello): void {
    if (hello.reset || hello.epoch !== this.#epoch) this.screen.reset();
    this.#epoch = hello.epoch;
    this.#acks = new Acks(hello.offset);
    this.screen.resized(hello.cols, hello.rows);
    // What was switched on before the first byte that is still there; a resize would undo the margins.
    if (hello.reset && hello.modes) this.screen.write(encoder.encode(hello.modes), () => {});
    this.events.hello(hello);
  }

  #bytes(data: Uint8Array): void {
    const acks = this.#acks;
    acks.arrived(data.length);
    this.screen.write(data, () => {
      if (acks === this.#acks) this.#drew(acks, data.length);
    });
  }

  #drew(acks: Acks, bytes: number): void {
    const offset = acks.drew(bytes);
    if (offset !== null) return this.#tell({ type: "ack", offset });
    // The rest of a burst is acknowledged too, so that the server never waits for bytes that are drawn.
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const rest = acks.settle();
      if (rest !== null && acks === this.#acks) this.#tell({ type: "ack", offset: rest });
    }, IDLE_MS);
  }
}
