/** xterm.js and its addons: a chunk of its own, loaded when a terminal is first shown. */
import "@xterm/xterm/css/xterm.css";
import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal, type ITheme } from "@xterm/xterm";
import { copyText } from "../ui/clipboard";
import type { Screen } from "./link";
import { same, type Size } from "./sizing";

const SMALLEST = 5;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 640px)");

function theme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--term-${name}`).trim();
  const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
  const out: Record<string, string> = {
    background: of("bg"),
    foreground: of("fg"),
    cursor: of("fg"),
    cursorAccent: of("bg"),
    selectionBackground: of("selection"),
  };
  for (const name of colours) {
    out[name] = of(name);
    out["bright" + name[0]!.toUpperCase() + name.slice(1)] = of(`bright-${name}`);
  }
  return out;
}

/** Windows and links from hostile output open only what a browser would open anyway, without an opener. */
const follow = (_: MouseEvent, uri: string): void => {
  if (/^https?:\/\//i.test(uri)) window.open(uri, "_blank", "noopener,noreferrer");
};

/** The terminal in `box`, at the size the server says, as large as fits. */
export class XtermScreen implements Screen {
  readonly term: Terminal;
  #fit = new FitAddon();
  #observer: ResizeObserver;
  /** The size of the PTY; null until the server has told it. */
  #actual: Size | null = null;
  #frame = 0;
  wanted: Size = { cols: 80, rows: 24 };

  constructor(
    private readonly box: HTMLElement,
    private readonly events: { measured(wanted: Size): void; told(actual: Size): void },
  ) {
    this.term = new Terminal({
      allowProposedApi: true,
      cursorBlink: false,
      disableStdin: true,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: this.#base(),
      lineHeight: 1.15,
      linkHandler: { activate: follow },
      macOptionIsMeta: true,
      rescaleOverlappingGlyphs: true,
      scrollback: 5000,
      theme: theme(),
    });
    this.term.open(box);
    this.#addons();
    this.#keys();
    dark.addEventListener("change", this.#restyle);
    this.#observer = new ResizeObserver(() => this.#soon());
    this.#observer.observe(box);
    this.#measure();
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    dark.removeEventListener("change", this.#restyle);
    this.#observer.disconnect();
    this.term.dispose();
  }

  reset(): void {
    this.term.reset();
  }

  write(data: Uint8Array, drawn: () => void): void {
    this.term.write(data, drawn);
  }

  resized(cols: number, rows: number): void {
    this.#actual = { cols, rows };
    this.#draw();
    this.events.told(this.#actual);
  }

  #base(): number {
    return narrow.matches ? 12 : 13;
  }

  #addons(): void {
    this.term.loadAddon(this.#fit);
    this.term.loadAddon(new UnicodeGraphemesAddon());
    this.term.loadAddon(new WebLinksAddon(follow));
    if (localStorage.getItem("hybridmux.renderer") === "dom") return;
    try {
      const webgl = new WebglAddon();
      webgl.onContextLoss(() => webgl.dispose()); // xterm goes on with its DOM renderer
      this.term.loadAddon(webgl);
    } catch {
      /* no WebGL here: the DOM renderer draws */
    }
  }

  /** Ctrl+Shift+C copies; Ctrl+Shift+V is the browser's own paste, which xterm brackets. */
  #keys(): void {
    this.term.attachCustomKeyEventHandler((event) => {
      if (!event.ctrlKey || !event.shiftKey) return true;
      if (event.code === "KeyV") return false;
      if (event.code !== "KeyC") return true;
      if (event.type === "keydown" && this.term.hasSelection()) {
        event.preventDefault();
        void copyText(this.term.getSelection());
      }
      return false;
    });
  }

  #restyle = (): void => {
    this.term.options.theme = theme();
  };

  #soon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#measure();
      this.#draw();
      this.events.measured(this.wanted);
    });
  }

  /** What would fit at the normal font size. */
  #measure(): void {
    if (this.term.options.fontSize !== this.#base()) this.term.options.fontSize = this.#base();
    const size = this.#fit.proposeDimensions();
    if (size && size.cols > 1 && size.rows > 1) this.wanted = size;
  }

  /** Another device's size is shown whole: letter-boxed, or smaller when it is larger than this window. */
  #draw(): void {
    if (!this.#actual) return;
    const { cols, rows } = this.#actual;
    const scale = Math.min(1, this.wanted.cols / cols, this.wanted.rows / rows);
    const size = Math.max(SMALLEST, Math.floor(this.#base() * scale * 2) / 2);
    if (this.term.options.fontSize !== size) this.term.options.fontSize = size;
    if (this.term.cols !== cols || this.term.rows !== rows) this.term.resize(cols, rows);
    this.box.classList.toggle("letterboxed", !same(this.#actual, this.wanted));
  }
}
