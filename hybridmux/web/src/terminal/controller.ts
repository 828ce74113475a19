import type { SocketStatus } from "../net/socket";
import { Store } from "../state/store";
import { TerminalLink } from "./link";
import { isReply, withCtrl } from "./replies";
import { XtermScreen, type Size } from "./screen";

export interface TerminalState {
  status: SocketStatus;
  live: boolean;
  wanted: Size;
  actual: Size | null;
  exitCode: number | null;
  /** Ctrl of the key bar is held for the next key. */
  ctrl: boolean;
}

const FRESH: TerminalState = {
  status: "connecting",
  live: false,
  wanted: { cols: 80, rows: 24 },
  actual: null,
  exitCode: null,
  ctrl: false,
};
const encoder = new TextEncoder();
const same = (a: Size, b: Size): boolean => a.cols === b.cols && a.rows === b.rows;

/** A terminal on the page: the screen, its connection, and who owns the size. */
export class TerminalController {
  readonly state = new Store<TerminalState>(FRESH);
  #screen: XtermScreen;
  #link: TerminalLink | null = null;
  /** We asked for the size last, so a window that changes takes the terminal along. */
  #owner: boolean;
  #asked: Size | null = null;
  #box: HTMLElement;

  constructor(box: HTMLElement, private readonly id: string, claim: boolean) {
    this.#box = box;
    this.#owner = claim;
    this.#screen = new XtermScreen(box, this.#sized);
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
  claim = (): void => {
    this.#owner = true;
    this.#ask();
  };

  #ask(): void {
    const { live, actual } = this.state.get();
    const { wanted } = this.#screen;
    if (!live || (actual && same(actual, wanted))) return;
    if (this.#asked && same(this.#asked, wanted)) return;
    this.#asked = wanted;
    this.#link?.resize(wanted.cols, wanted.rows);
  }

  #sized = (wanted: Size, actual: Size): void => {
    const before = this.state.get();
    this.state.update({ wanted, actual });
    const answered = !before.actual || !same(before.actual, actual);
    if (answered && this.#asked) {
      // Somebody else's size after ours: they own it now, until somebody types here.
      if (!same(this.#asked, actual)) this.#owner = false;
      this.#asked = null;
    } else if (answered && before.actual && !same(wanted, actual)) this.#owner = false;
    if (this.#owner) this.#ask();
  };

  #live(live: boolean): void {
    this.#screen.term.options.disableStdin = !live;
    this.#asked = null;
    this.state.update({ live });
    if (live && this.#owner) this.#ask();
  }

  #typed(data: string): void {
    const { live, ctrl, actual, wanted } = this.state.get();
    // Answers to queries in replayed output were given when it was new.
    if (!live) return;
    if (isReply(data) && actual && !same(actual, wanted)) return;
    if (ctrl) this.state.update({ ctrl: false });
    this.#send(encoder.encode(ctrl ? withCtrl(data) : data));
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.state.get().live) this.#link?.input(bytes);
  }
}
