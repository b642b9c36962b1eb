import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LogFollower } from '../../state/log-follower.ts';
import type { LogSearch } from '../../state/log-search.ts';
import { rowsInSight } from '../window-math.ts';
import { StickyEnd } from './sticky-end.ts';

export const lineHeight = 18;

export type LogView = ReturnType<typeof useLogView>;

/** Opens the log, and keeps the part of it that is in sight: its end while the reader stays there. */
export function useLogView(log: LogFollower, search: LogSearch, version: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const end = useMemo(() => new StickyEnd(), []);
  const [follow, setFollow] = useState(true);
  const [sight, setSight] = useState({ first: 0, last: 60 });

  const look = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const next = rowsInSight(element.scrollTop, element.clientHeight, lineHeight, log.lines.count, 20);
    setSight((old) => (old.first === next.first && old.last === next.last ? old : next));
  };
  const keepAtEnd = (): void => {
    if (scroller.current !== null) end.keep(scroller.current);
  };

  useEffect(() => {
    log.onFrontChange = (by) => {
      if (by > 0) search.reset();
      else search.shift(by);
      if (scroller.current !== null && !end.following) scroller.current.scrollTop += by * lineHeight;
    };
  }, [log, search]);
  useEffect(() => {
    void log.open();
    return () => log.close();
  }, [log]);
  // Before the browser tells of scrolling: it moves the view by itself when old lines go, and the reader did not ask for that.
  useLayoutEffect(() => {
    keepAtEnd();
    look();
  }, [version]);
  useEffect(() => {
    if (scroller.current === null) return;
    const observer = new ResizeObserver(() => {
      keepAtEnd();
      look();
    });
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, []);

  return {
    scroller,
    sight,
    follow,
    stick: (to: boolean): void => {
      end.follow(to);
      setFollow(to);
      keepAtEnd();
    },
    onScroll: (): void => {
      const element = scroller.current;
      if (element === null) return;
      end.scrolled(element);
      setFollow(end.following);
      look();
    },
    /** Puts a line into the middle of the view. */
    show: (line: number): void => {
      const element = scroller.current;
      if (element === null) return;
      end.leave();
      setFollow(false);
      element.scrollTop = Math.max(0, line * lineHeight - element.clientHeight / 2);
    },
  };
}
