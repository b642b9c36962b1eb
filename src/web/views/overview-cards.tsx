import { useEffect, useMemo } from 'preact/hooks';
import { StateMark } from '../parts/icon.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { now } from '../state/clock.ts';
import { demand, events } from '../state/cluster.ts';
import { watchJobs } from '../state/feed.ts';
import { JobList } from '../state/job-list.ts';
import { jobLink, linkTo } from '../state/route.ts';
import { infeasibleTitle, waitingTitle } from '../words/demand.ts';
import { eventLooks, jobLooks } from '../words/states.ts';
import { relativeTime } from '../words/time.ts';

const rowsShown = 8;

/** What waits and what can never be placed, with the reason. */
export function DemandCard() {
  const shown = demand.value;
  const entries = [
    ...(shown?.infeasible ?? []).map((entry) => ({
      title: infeasibleTitle(entry),
      text: entry.text,
      never: true,
      until: undefined,
    })),
    ...(shown?.waiting ?? []).map((entry) => ({
      title: waitingTitle(entry),
      text: entry.text,
      never: false,
      until: entry.until,
    })),
  ];
  return (
    <section class="card" aria-labelledby="pending-demand">
      <header class="card-head">
        <h2 id="pending-demand">Waiting, and why</h2>
        <a href={linkTo(['demand'])}>All demand</a>
      </header>
      {shown === undefined ? (
        <Loading />
      ) : entries.length === 0 ? (
        <Empty title="Nothing is waiting">All demand is placed or being launched.</Empty>
      ) : (
        <ul class="plain-list brief-list">
          {entries.slice(0, 6).map((entry, index) => (
            <li key={index} class="brief">
              <span class="brief-title">
                <StateMark
                  look={
                    entry.never
                      ? { label: 'Can never be placed', tone: 'bad', shape: 'alert' }
                      : { label: 'Waiting', tone: 'warn', shape: 'clock' }
                  }
                  quiet
                />
                {entry.title}
              </span>
              <span class="brief-text">
                {entry.text}
                {entry.until !== undefined &&
                  entry.until > now.value &&
                  `; retrying ${relativeTime(entry.until, now.value)}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The newest jobs, kept current. */
export function JobsCard() {
  const list = useMemo(() => new JobList({ states: [], search: '' }, rowsShown * 2), []);
  useEffect(() => {
    void list.reload();
    const unwatch = watchJobs({ changed: (rows) => list.takeChanges(rows), resync: () => void list.reload() });
    return () => {
      unwatch();
      list.close();
    };
  }, [list]);
  const rows = list.window.value?.rows.slice(0, rowsShown);
  return (
    <section class="card" aria-labelledby="newest-jobs">
      <header class="card-head">
        <h2 id="newest-jobs">Newest jobs</h2>
        <a href={linkTo(['jobs'])}>All jobs</a>
      </header>
      {rows === undefined ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title="No jobs yet">
          Submit one with <code>manta job submit -- echo hello</code> or New job.
        </Empty>
      ) : (
        <ul class="plain-list brief-list">
          {rows.map((row) => (
            <li key={row.id} class="brief">
              <span class="brief-title">
                <StateMark look={jobLooks[row.state]} quiet />
                <a href={jobLink(row.id)} class="mono">
                  {row.id}
                </a>
                <span class="brief-side">
                  {row.startedAt === undefined ? (
                    <Ago at={row.submittedAt} />
                  ) : (
                    <Took from={row.startedAt} to={row.endedAt} />
                  )}
                </span>
              </span>
              <span class="brief-text mono">{row.entrypoint}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function EventsCard() {
  const shown = events.value
    ?.filter((event) => event.level !== 'debug')
    .slice(-rowsShown)
    .reverse();
  return (
    <section class="card" aria-labelledby="latest-events">
      <header class="card-head">
        <h2 id="latest-events">Latest events</h2>
        <a href={linkTo(['events'])}>All events</a>
      </header>
      {shown === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <Empty title="Nothing has happened yet" />
      ) : (
        <ul class="plain-list brief-list">
          {shown.map((event) => (
            <li key={event.seq} class="brief">
              <span class="brief-title">
                <StateMark look={eventLooks[event.level]} quiet />
                <span class="brief-line">{event.text}</span>
              </span>
              <span class="brief-text">
                <Ago at={event.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
