import type { Token, Tokens } from "marked";
import { memo, useRef, type ReactNode } from "react";
import { t } from "../strings";
import { CopyButton } from "../ui/CopyButton";
import { blocksOf, NO_BLOCKS, safeHref, type Blocks } from "./markdown";

/**
 * Markdown drawn as elements, never as HTML: whatever an agent or a repository writes, no markup of
 * theirs reaches the page. Finished blocks keep their tokens, so only the growing tail is drawn anew.
 */
export function Markdown({ text }: { text: string }) {
  const blocks = useRef<Blocks>(NO_BLOCKS);
  blocks.current = blocksOf(text, blocks.current);
  const { done, tail } = blocks.current;
  return (
    <div className="md">
      {[...done, ...tail].map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "code":
      return <Code token={token as Tokens.Code} />;
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "list":
      return <List token={token as Tokens.List} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "paragraph":
      return <p>{inlines((token as Tokens.Paragraph).tokens)}</p>;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return <>{tokens ? inlines(tokens) : text}</>;
    }
    default:
      return <p>{token.raw}</p>;
  }
});

const blocks = (tokens: Token[]): ReactNode => tokens.map((token, index) => <Block key={index} token={token} />);
const inlines = (tokens: Token[]): ReactNode => tokens.map((token, index) => <Inline key={index} token={token} />);

function Heading({ token }: { token: Tokens.Heading }) {
  // The page's own headings are 1 and 2: a message starts below them.
  const Tag = `h${Math.min(6, token.depth + 2)}` as "h3" | "h4" | "h5" | "h6";
  return <Tag>{inlines(token.tokens)}</Tag>;
}

function Code({ token }: { token: Tokens.Code }) {
  return (
    <div className="code">
      <div className="code-bar">
        <span>{token.lang}</span>
        <CopyButton text={token.text} label={t.chat.code} />
      </div>
      <pre tabIndex={0}>
        <code>{token.text}</code>
      </pre>
    </div>
  );
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly disabled />}
      {blocks(item.tokens.filter((each) => each.type !== "checkbox"))}
    </li>
  ));
  return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { token: Tokens.Table }) {
  const align = (index: number) => ({ textAlign: token.align[index] ?? undefined }) as const;
  return (
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} style={align(index)}>
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} style={align(index)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inlines((token as Tokens.Strong).tokens)}</strong>;
    case "em":
      return <em>{inlines((token as Tokens.Em).tokens)}</em>;
    case "del":
      return <del>{inlines((token as Tokens.Del).tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{inlines((token as Tokens.Link).tokens)}</Link>;
    case "image": {
      // A remote picture would tell its server that it was looked at: it stays a link.
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text || href}</Link>;
    }
    case "escape":
      return (token as Tokens.Escape).text;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlines(tokens) : text;
    }
    default:
      return token.raw;
  }
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === null) return <>{children}</>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
