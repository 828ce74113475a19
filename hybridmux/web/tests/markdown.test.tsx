import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { blocksOf, NO_BLOCKS, safeHref } from "../src/chat/markdown";
import { Markdown } from "../src/chat/Markdown";

const SAMPLE = [
  "# Title", "", "A paragraph with **bold**, `code` and a [link](https://example.org).", "",
  "- one", "- two", "  - nested", "", "- three after a blank line", "", "1. first", "2. second", "",
  "```python", "def f():", "", "    return 1", "```", "", "> quoted", "> more", "",
  "| a | b |", "|---|--:|", "| 1 | 2 |", "", "- [x] done", "- [ ] open", "", "Setext", "======", "", "last words",
].join("\n");

const html = (text: string) => render(<Markdown text={text} />).container.innerHTML;

describe("a growing text", () => {
  it("looks at every moment as if it had come whole", () => {
    const { rerender, container } = render(<Markdown text="" />);
    for (let end = 0; end <= SAMPLE.length; end += 11) {
      rerender(<Markdown text={SAMPLE.slice(0, end)} />);
      expect(container.innerHTML).toBe(html(SAMPLE.slice(0, end)));
    }
  });

  it("keeps finished blocks as they are", () => {
    const before = blocksOf("# One\n\ntwo\n\nthree", NO_BLOCKS);
    const after = blocksOf("# One\n\ntwo\n\nthree more\n\nfour", before);
    expect(before.done.length).toBeGreaterThan(0);
    before.done.forEach((token, index) => expect(after.done[index]).toBe(token));
  });

  it("starts over when it is another text", () => {
    const before = blocksOf("first\n\nsecond\n\nthird");
    expect(blocksOf("other", before)).toEqual(blocksOf("other"));
  });

  it("counts carriage returns as the parser does", () => {
    const text = "one\r\n\r\ntwo\r\n\r\nthree\r\n\r\nfour";
    let grown = NO_BLOCKS;
    for (let end = 1; end <= text.length; end++) grown = blocksOf(text.slice(0, end), grown);
    expect([...grown.done, ...grown.tail].map(({ raw }) => raw).join("")).toBe("one\n\ntwo\n\nthree\n\nfour");
  });
});

describe("hostile Markdown", () => {
  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <iframe src='https://evil.example'></iframe> text",
    "<style>*{display:none}</style>",
    "![x](https://evil.example/pixel.png)",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,AAAA)",
    "<a href='javascript:alert(1)'>x</a>",
    "[x]( JaVaScRiPt:alert(1))",
  ])("%s makes no element of its own", (text) => {
    const { container } = render(<Markdown text={text} />);
    expect(container.querySelector("script, img, iframe, style, [onerror], [style]")).toBeNull();
    for (const link of container.querySelectorAll("a")) expect(link.href).toMatch(/^https?:/);
  });

  it("opens links without an opener", () => {
    render(<Markdown text="[x](https://example.org)" />);
    expect(screen.getByRole("link")).toHaveProperty("rel", "noopener noreferrer nofollow");
  });

  it("follows only addresses of the web and mail", () => {
    expect(safeHref("https://a.b")).toBe("https://a.b");
    expect(safeHref("mailto:a@b")).toBe("mailto:a@b");
    for (const href of ["javascript:x", "file:///etc/passwd", "/api/sessions", "vbscript:x", "#x"]) expect(safeHref(href)).toBeNull();
  });
});

describe("elements", () => {
  it("task lists have their boxes once", () => {
    const { container } = render(<Markdown text={"- [x] done\n- [ ] open"} />);
    expect([...container.querySelectorAll("input")].map(({ checked }) => checked)).toEqual([true, false]);
  });

  it("code has a copy button", () => {
    render(<Markdown text={"```js\nlet a\n```"} />);
    expect(screen.getByRole("button", { name: "Copy code" })).toBeTruthy();
  });
});
