import { Lexer, type Token } from "marked";

/**
 * The blocks of a growing Markdown text. A block that another block follows is finished and is never
 * looked at again; only the tail is parsed when text arrives.
 */
export interface Blocks {
  /** The whole text so far. */
  source: string;
  /** Finished blocks, always the same objects. */
  done: readonly Token[];
  /** Where the tail starts in `source`. */
  tailAt: number;
  /** The blocks of the tail. */
  tail: readonly Token[];
}

export const NO_BLOCKS: Blocks = { source: "", done: [], tailAt: 0, tail: [] };

const lex = (text: string): Token[] => new Lexer({ gfm: true, breaks: false }).lex(text);

/** Splits off everything before the last block that is not blank. */
function settle(tokens: Token[]): [done: Token[], tail: Token[]] {
  const last = tokens.findLastIndex((token) => token.type !== "space");
  return last <= 0 ? [[], tokens] : [tokens.slice(0, last), tokens.slice(last)];
}

/** The blocks of `source`; `before` is reused as far as it is a beginning of it. */
export function blocksOf(text: string, before: Blocks = NO_BLOCKS): Blocks {
  const source = text.replace(/\r\n?/g, "\n"); // as the lexer does, or the lengths would not add up
  if (source === before.source) return before;
  const base = source.startsWith(before.source) ? before : NO_BLOCKS;
  const [settled, tail] = settle(lex(source.slice(base.tailAt)));
  const grown = settled.reduce((sum, token) => sum + token.raw.length, 0);
  return { source, done: [...base.done, ...settled], tailAt: base.tailAt + grown, tail };
}

/** Links a click may follow; everything else stays text (`javascript:`, `data:`, relative paths). */
export function safeHref(href: string): string | null {
  return /^(https?:|mailto:)/i.test(href.trim()) ? href.trim() : null;
}
