import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { LogFollower } from '../state/log-follower.ts';
import { LogSearch } from '../state/log-search.ts';
import { counted } from '../words/amounts.ts';
import { Icon } from './icon.tsx';
import { LogText } from './log-text.tsx';
import { Failure } from './notice.tsx';
import { sayFailure } from './toasts.tsx';
import { rowsInSight } from './window-math.ts';

interface LogProps {
  readonly job: string;
  readonly attempt: number;
  readonly over: boolean;
}

const lineHeight = 18;
/** The reader counts as being at the end within this many pixels of it. */
const nearEnd = 4;

/** The log of an attempt: follows the end while the reader stays there, and is searched where it stands. */
export function LogPanel({ job, attempt, over }: LogProps) {
  const log = useMemo(() => new LogFollower(job, attempt), [job, attempt]);
  const scroller = useRef<HTMLDivElement>(null);
  const [follow, setFollow] = useState(true);
  const following = useRef(true);
  const lastTop = useRef(0);
  const lastHeight = useRef(0);
  const [sight, setSight] = useState({ first: 0, last: 60 });
  const [words, setWords] = useState('');
  const [current, setCurrent] = useState(0);
  const search = useMemo(() => new LogSearch(words), [words]);
  const version = log.version.value;
  const count = log.lines.count;

  useMemo(() => search.update(log.lines), [search, version]);

  const look = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const next = rowsInSight(element.scrollTop, element.clientHeight, lineHeight, log.lines.count, 20);
    setSight((old) => (old.first === next.first && old.last === next.last ? old : next));
  };

  const keepAtEnd = (): void => {
    const element = scroller.current;
    if (!following.current || element === null) return;
    // The reader went up and the browser has not told yet; a log that grew does not move the view up by itself.
    if (element.scrollTop < lastTop.current && element.scrollHeight >= lastHeight.current) return;
    element.scrollTop = element.scrollHeight;
    lastTop.current = element.scrollTop;
    lastHeight.current = element.scrollHeight;
  };

  const stick = (to: boolean): void => {
    following.current = to;
    setFollow(to);
    lastTop.current = 0;
    keepAtEnd();
  };

  useEffect(() => {
    log.onFrontChange = (by) => {
      if (by > 0) search.reset();
      else search.shift(by);
      if (scroller.current !== null && !following.current) scroller.current.scrollTop += by * lineHeight;
    };
  }, [log, search]);

  useEffect(() => {
    void log.open();
    return () => log.close();
  }, [log]);

  // Before the browser tells of scrolling: it moves the view by itself when old lines go, and that is no wish of the reader.
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

  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop } = element;
    const atEnd = scrollTop + element.clientHeight >= element.scrollHeight - nearEnd;
    // Not being at the end is no wish of the reader when lines were added below; going up is one.
    const next = atEnd || (following.current && scrollTop >= lastTop.current);
    lastTop.current = scrollTop;
    lastHeight.current = element.scrollHeight;
    if (next !== following.current) {
      following.current = next;
      setFollow(next);
    }
    look();
  };

  const goToMatch = (by: number): void => {
    const { matches } = search;
    const element = scroller.current;
    if (matches.length === 0 || element === null) return;
    const next = (current + by + matches.length) % matches.length;
    setCurrent(next);
    following.current = false;
    setFollow(false);
    element.scrollTop = Math.max(0, (matches[next] ?? 0) * lineHeight - element.clientHeight / 2);
  };

  const currentLine = words === '' ? -1 : (search.matches[Math.min(current, search.matches.length - 1)] ?? -1);
  const rows = [];
  for (let index = sight.first; index < Math.min(sight.last, count); index += 1) {
    rows.push(
      <div
        key={index}
        class={index === currentLine ? 'log-line is-current' : 'log-line'}
        style={{ transform: `translateY(${index * lineHeight}px)` }}
      >
        <LogText line={log.lines.line(index)} pattern={search.pattern} />
      </div>,
    );
  }

  return (
    <>
      <header class="card-head log-head">
        <h2>
          Log <span class="quiet">attempt {attempt}</span>
        </h2>
        <div class="log-search">
          <label class="search">
            <Icon name="search" />
            <input
              type="search"
              aria-label="Search the log"
              placeholder="Search the log"
              spellcheck={false}
              value={words}
              onInput={(input) => {
                setWords(input.currentTarget.value);
                setCurrent(0);
              }}
              onKeyDown={(press) => {
                if (press.key !== 'Enter') return;
                press.preventDefault();
                goToMatch(
                  press.shiftKey ? -1 : currentLine >= sight.first && currentLine < sight.last && !follow ? 1 : 0,
                );
              }}
            />
          </label>
          {words !== '' && (
            <>
              <span class="log-matches" role="status">
                {search.matches.length === 0
                  ? 'no match'
                  : `${Math.min(current, search.matches.length - 1) + 1} of ${search.matches.length}`}
              </span>
              <button type="button" class="icon-button" aria-label="Previous match" onClick={() => goToMatch(-1)}>
                <Icon name="up" />
              </button>
              <button type="button" class="icon-button" aria-label="Next match" onClick={() => goToMatch(1)}>
                <Icon name="down" />
              </button>
            </>
          )}
        </div>
        <label class="check">
          <input type="checkbox" checked={follow} onChange={(change) => stick(change.currentTarget.checked)} />
          Follow
        </label>
        <DownloadButton log={log} name={`${job}.${attempt}.log`} />
      </header>
      {log.lines.firstOffset > 0 && (
        <button
          type="button"
          class="log-earlier"
          disabled={log.loadingEarlier.value}
          onClick={() => void log.loadEarlier()}
        >
          {log.loadingEarlier.value ? 'Loading earlier output…' : 'Load earlier output'}
        </button>
      )}
      {log.failure.value !== undefined && <Failure failure={log.failure.value} onRetry={() => log.retryNow()} />}
      <div
        ref={scroller}
        class="log"
        role="region"
        aria-label={`Output of attempt ${attempt}`}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div
          class="log-canvas"
          style={{ height: `${count * lineHeight}px`, minWidth: `calc(${log.lines.widest}ch + 24px)` }}
        >
          {rows}
        </div>
      </div>
      <LogFoot log={log} over={over} count={count} />
    </>
  );
}

function DownloadButton({ log, name }: { log: LogFollower; name: string }) {
  const [busy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    setBusy(true);
    try {
      const url = URL.createObjectURL(await log.whole());
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (problem) {
      sayFailure('Could not download the log', problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class="icon-button"
      aria-label="Download the whole log"
      title="Download the whole log"
      disabled={busy}
      onClick={() => void download()}
    >
      {busy ? <span class="spinner" aria-hidden="true" /> : <Icon name="download" />}
    </button>
  );
}

/** Says whether more can come: an end is only said when the head has said it. */
function LogFoot({ log, over, count }: { log: LogFollower; over: boolean; count: number }) {
  const state = log.connection.value;
  const end = log.end.value;
  const text =
    end !== undefined
      ? `End of the log${end.exitCode === undefined ? '' : `, exit code ${end.exitCode}`}`
      : state.kind === 'lost'
        ? 'Reconnecting… the log goes on where it stopped'
        : state.kind === 'open'
          ? over
            ? 'Reading the rest'
            : 'Live'
          : 'Connecting…';
  return (
    <p class="log-foot">
      <span
        class={
          end === undefined && state.kind === 'open' ? 'pulse' : state.kind === 'lost' ? 'spinner' : 'pulse is-still'
        }
        aria-hidden="true"
      />
      <span role="status">{text}</span>
      <span class="log-count">{counted(count, 'line')}</span>
    </p>
  );
}
