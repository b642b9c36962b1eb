import { useMemo, useState } from 'preact/hooks';
import { LogFollower } from '../../state/log-follower.ts';
import { LogSearch } from '../../state/log-search.ts';
import { counted } from '../../words/amounts.ts';
import { Icon } from '../icon.tsx';
import { Failure } from '../notice.tsx';
import { sayFailure } from '../toasts.tsx';
import { LogText } from './log-text.tsx';
import { type LogView, lineHeight, useLogView } from './log-view.ts';

interface LogProps {
  readonly job: string;
  readonly attempt: number;
  readonly over: boolean;
}

/** The log of an attempt: follows the end while the reader stays there, and is searched where it stands. */
export function LogPanel({ job, attempt, over }: LogProps) {
  const log = useMemo(() => new LogFollower(job, attempt), [job, attempt]);
  const [words, setWords] = useState('');
  const search = useMemo(() => new LogSearch(words), [words]);
  const version = log.version.value;
  useMemo(() => search.update(log.lines), [search, version]);
  const view = useLogView(log, search, version);
  const [current, setCurrent] = useState(0);
  const match = Math.min(current, search.matches.length - 1);
  const currentLine = words === '' ? -1 : (search.matches[match] ?? -1);

  const goToMatch = (by: number): void => {
    const { matches } = search;
    if (matches.length === 0 || view.scroller.current === null) return;
    const next = (current + by + matches.length) % matches.length;
    setCurrent(next);
    view.show(matches[next] ?? 0);
  };
  const isInSight = currentLine >= view.sight.first && currentLine < view.sight.last && !view.follow;

  return (
    <>
      <header class="card-head log-head">
        <h2>
          Log <span class="quiet">attempt {attempt}</span>
        </h2>
        <SearchBox
          words={words}
          matches={search.matches.length}
          match={match}
          onWords={(next) => {
            setWords(next);
            setCurrent(0);
          }}
          onEnter={(backwards) => goToMatch(backwards ? -1 : isInSight ? 1 : 0)}
          onStep={goToMatch}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={view.follow}
            onChange={(change) => view.stick(change.currentTarget.checked)}
          />
          Follow
        </label>
        <DownloadButton log={log} name={`${job}.${attempt}.log`} />
      </header>
      {log.lines.firstOffset > 0 && <EarlierButton log={log} />}
      {log.failure.value !== undefined && <Failure failure={log.failure.value} onRetry={() => log.retryNow()} />}
      <LogLines log={log} view={view} attempt={attempt} pattern={search.pattern} currentLine={currentLine} />
      <LogFoot log={log} over={over} count={log.lines.count} />
    </>
  );
}

interface SearchProps {
  readonly words: string;
  /** How many lines match, and which of them is the current one. */
  readonly matches: number;
  readonly match: number;
  readonly onWords: (words: string) => void;
  readonly onEnter: (backwards: boolean) => void;
  readonly onStep: (by: number) => void;
}

function SearchBox({ words, matches, match, onWords, onEnter, onStep }: SearchProps) {
  return (
    <div class="log-search">
      <label class="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          spellcheck={false}
          value={words}
          onInput={(input) => onWords(input.currentTarget.value)}
          onKeyDown={(press) => {
            if (press.key !== 'Enter') return;
            press.preventDefault();
            onEnter(press.shiftKey);
          }}
        />
      </label>
      {words !== '' && (
        <>
          <span class="log-matches" role="status">
            {matches === 0 ? 'no matches' : `${match + 1} of ${matches}`}
          </span>
          <button type="button" class="icon-button" aria-label="Previous match" onClick={() => onStep(-1)}>
            <Icon name="up" />
          </button>
          <button type="button" class="icon-button" aria-label="Next match" onClick={() => onStep(1)}>
            <Icon name="down" />
          </button>
        </>
      )}
    </div>
  );
}

function EarlierButton({ log }: { log: LogFollower }) {
  const loading = log.loadingEarlier.value;
  return (
    <button type="button" class="log-earlier" disabled={loading} onClick={() => void log.loadEarlier()}>
      {loading ? 'Loading earlier output…' : 'Load earlier output'}
    </button>
  );
}

interface LinesProps {
  readonly log: LogFollower;
  readonly view: LogView;
  readonly attempt: number;
  readonly pattern: LogSearch['pattern'];
  readonly currentLine: number;
}

function LogLines({ log, view, attempt, pattern, currentLine }: LinesProps) {
  const { count, widest } = log.lines;
  const rows = [];
  for (let index = view.sight.first; index < Math.min(view.sight.last, count); index += 1) {
    rows.push(
      <div
        key={index}
        class={index === currentLine ? 'log-line is-current' : 'log-line'}
        style={{ transform: `translateY(${index * lineHeight}px)` }}
      >
        <LogText line={log.lines.line(index)} pattern={pattern} />
      </div>,
    );
  }
  return (
    <div
      ref={view.scroller}
      class="log"
      role="region"
      aria-label={`Output of attempt ${attempt}`}
      tabIndex={0}
      onScroll={view.onScroll}
    >
      <div class="log-canvas" style={{ height: `${count * lineHeight}px`, minWidth: `calc(${widest}ch + 24px)` }}>
        {rows}
      </div>
    </div>
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

/** Shows whether more can come: the end is shown only when the head has reported it. */
function LogFoot({ log, over, count }: { log: LogFollower; over: boolean; count: number }) {
  const state = log.connection.value;
  const end = log.end.value;
  const text =
    end !== undefined
      ? `End of the log${end.exitCode === undefined ? '' : `, exit code ${end.exitCode}`}`
      : state.kind === 'lost'
        ? 'Reconnecting… the log continues where it stopped'
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
