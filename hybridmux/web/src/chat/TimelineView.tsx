import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { t } from "../strings";
import type { ChatView } from "./channel";
import type { Item } from "./fold";
import { ItemView } from "./ItemView";

/** Items drawn at once, and how many more when the reader scrolls up. */
const PAGE = 120;
const NEAR = 48;

/** Where drawing starts: the newest page; while the reader follows the end, what is far above is let go. */
export function startFor(length: number, from: number, following: boolean): number {
  if (from > length) return Math.max(0, length - PAGE);
  return following && length - from > PAGE * 3 ? length - PAGE : from;
}

/** A switch loads the conversation and then commits: one line is enough for both. */
const isRepeated = (item: Item, next: Item | undefined): boolean =>
  item.kind === "marker" && item.marker === "loaded" && next?.kind === "marker" && next.marker !== "loaded";

export function TimelineView({ view }: { view: ChatView }) {
  const { items } = view.timeline;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [atEnd, setAtEnd] = useState(true);
  const [from, setFrom] = useState(() => Math.max(0, items.length - PAGE));
  const first = useFirst(items, view.loaded, from, setFrom, following);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    if (following.current) toEnd();
  }, [items, toEnd]);
  useEffect(() => {
    // Pictures, folds and the phone's keyboard change heights without new items.
    const observer = new ResizeObserver(() => following.current && toEnd());
    for (const box of [scroller.current, content.current]) if (box) observer.observe(box);
    return () => observer.disconnect();
  }, [toEnd]);

  const scrolled = () => {
    const box = scroller.current;
    if (!box) return;
    const end = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    following.current = end;
    setAtEnd(end);
  };
  return (
    <div className="timeline-frame">
      <div className="timeline" ref={scroller} onScroll={scrolled} tabIndex={0} role="log" aria-label={t.chat.label} aria-live="off">
        <div className="timeline-items" ref={content}>
          {first === 0 && view.truncated && <p className="marker">{t.chat.truncated}</p>}
          {first > 0 && <Earlier scroller={scroller} onMore={() => setFrom(Math.max(0, first - PAGE))} />}
          {view.loaded && items.length === 0 && <p className="empty">{t.chat.empty}</p>}
          {items.slice(first).map((item, index) => (
            isRepeated(item, items[first + index + 1]) ? null : <ItemView key={first + index} item={item} />
          ))}
          <Working state={view.state} last={items.at(-1)} />
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="button newest" onClick={toEnd}>
          <ArrowDown size={14} aria-hidden /> {t.chat.newest}
        </button>
      )}
    </div>
  );
}

/** The first item to draw. A conversation that arrives in one piece starts at its newest page. */
function useFirst(
  items: readonly Item[],
  loaded: boolean,
  from: number,
  setFrom: (from: number) => void,
  following: { current: boolean },
): number {
  const first = startFor(items.length, from, following.current || !loaded);
  useEffect(() => {
    if (first !== from) setFrom(first);
  }, [first, from, setFrom]);
  return first;
}

/** Draws more when it comes into view, and keeps what the reader looks at where it is. */
function Earlier({ scroller, onMore }: { scroller: { current: HTMLDivElement | null }; onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  useEffect(() => {
    const box = scroller.current;
    if (!box || !button.current) return;
    const observer = new IntersectionObserver((seen) => {
      if (!seen.some((entry) => entry.isIntersecting) || box.scrollTop > 600) return;
      const below = box.scrollHeight - box.scrollTop;
      more.current();
      requestAnimationFrame(() => (box.scrollTop = box.scrollHeight - below));
    }, { root: box, rootMargin: "300px 0px 0px" });
    observer.observe(button.current);
    return () => observer.disconnect();
  });
  return (
    <button type="button" className="link earlier" ref={button} onClick={onMore}>
      {t.chat.earlier}
    </button>
  );
}

/** A turn that runs and has nothing to show for it yet. */
function Working({ state, last }: { state: ChatView["state"]; last: Item | undefined }) {
  const running = state?.turn && !state.turn.endedAt;
  if (!running || state.requests.length > 0) return null;
  const thinking = last?.kind === "message" && last.role === "thought";
  return (
    <p className="working" role="status">
      <span className="pulse" aria-hidden />
      {thinking ? t.chat.thinking : t.chat.working}
    </p>
  );
}
