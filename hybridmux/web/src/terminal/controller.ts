import type { SocketStatus } from "../net/socket";
import { Store } from "../state/store";
import { TerminalLink } from "./link";
import { isReply, withCtrl } from "./replies";
import { XtermScreen } from "./screen";
import { Sizing, type Size } from "./sizing";

export interface TerminalState {
  status: SocketStatus;
  live: boolean;
  /** The size that another device gave the terminal, while it is not ours. */
  foreign: Size | null;
  exitCode: number | null;
  /** Ctrl of the key bar is held for the next key. */
  ctrl: boolean;
}

const FRESH: TerminalState = {
  status: "connecting",
  live: false,
  foreign: null,
  exitCode: null,
  ctrl: false,
};
const encoder = new TextEncoder();

/** A terminal on the page: the screen, its connection, and who owns the size. */
export class TerminalController {
  readonly state = new Store<TerminalState>(FRESH);
  #screen: XtermScreen;
  #link: TerminalLink | null = null;
  #sizing: Sizing;
  #actual: Size | null = null;
  #box: HTMLElement;

  constructor(box: HTMLElement, private readonly id: string, claim: boolean) {
    this.#box = box;
    this.#screen = new XtermScreen(box, {
      measured: (wanted) => this.#size(() => this.#sizing.measured(wanted)),
      told: (actual) => this.#size(() => this.#sizing.told(actual), actual),
    });
    this.#sizing = new Sizing(this.#screen.wanted, claim, ({ cols, rows }) => this.#link?.resize(cols, rows));
    this.#screen.term.onData((data) => this.#typed(data));
    this.#screen.term.onBinary((data) => this.#send(Uint8Array.from(data, (char) => char.charCodeAt(0) & 255)));
    for (const type of ["keydown", "beforeinput", "paste"]) box.addEventListener(type, this.claim, true);
  }

  dispose(): void {
    for (const type of ["keydown", "beforeinput", "paste"]) this.#box.removeEventListener(type, this.claim, true);
    this.disconnect();
    this.#screen.dispose();
  }

  connect(): void {
    this.#link ??= new TerminalLink(this.id, this.#screen, {
      status: (status) => this.state.update({ status }),
      live: (live) => this.#live(live),
      hello: () => this.state.update({ exitCode: null }),
      exit: (exitCode) => this.state.update({ exitCode }),
    });
  }

  /** The session left the terminal side; what was drawn stays until it comes back. */
  disconnect(): void {
    this.#link?.stop();
    this.#link = null;
    this.#live(false);
  }

  focus(): void {
    this.#screen.term.focus();
  }

  /** Keys of the key bar, and text put in: as if typed. */
  press(data: string): void {
    this.claim();
    const cursorKeys = this.#screen.term.modes.applicationCursorKeysMode;
    this.#screen.term.input(cursorKeys ? data.replace(/^\x1b\[(?=[A-D]$)/, "\x1bO") : data, true);
  }

  paste(text: string): void {
    this.claim();
    this.#screen.term.paste(text);
  }

  holdCtrl(): void {
    this.state.update({ ctrl: !this.state.get().ctrl });
    this.focus();
  }

  /** Makes this window the one that the size follows. */
  claim = (): void => this.#size(() => this.#sizing.claim());

  #size(change: () => void, actual = this.#actual): void {
    this.#actual = actual;
    change();
    this.state.update({ foreign: this.#sizing.foreign ? actual : null });
  }

  #live(live: boolean): void {
    this.#screen.term.options.disableStdin = !live;
    this.state.update({ live });
    this.#size(() => this.#sizing.live(live));
  }

  #typed(data: string): void {
    const { live, ctrl, foreign } = this.state.get();
    // Answers to queries in replayed output were given when it was new.
    if (!live) return;
    if (foreign && isReply(data)) return;
    if (ctrl) this.state.update({ ctrl: false });
    this.#send(encoder.encode(ctrl ? withCtrl(data) : data));
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.state.get().live) this.#link?.input(bytes);
  }
}
