import { useMemo, useState } from 'preact/hooks';
import type { EventAnswer } from '../../api/types.ts';
import { type Column, DataGrid } from '../parts/data-grid.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { FilterChips, SearchField } from '../parts/filters.tsx';
import { StateMark } from '../parts/icon.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { Ago } from '../parts/time.tsx';
import { now } from '../state/clock.ts';
import { events } from '../state/cluster.ts';
import { goTo, jobLink, linkTo, nodeLink, route } from '../state/route.ts';
import { counted } from '../words/amounts.ts';
import { eventLooks } from '../words/states.ts';
import { exactTime, timeOfDay } from '../words/time.ts';

const levels = ['error', 'warn', 'result', 'info', 'debug'] as const;

const columns: readonly Column<EventAnswer>[] = [
  {
    name: 'time',
    label: 'Time',
    cell: (event) => (
      <time dateTime={new Date(event.at).toISOString()} title={exactTime(event.at)}>
        {timeOfDay(event.at, now.peek())}
      </time>
    ),
  },
  { name: 'level', label: 'Level', cell: (event) => <StateMark look={eventLooks[event.level]} /> },
  { name: 'text', label: 'Event', cell: (event) => <span title={event.text}>{event.text}</span> },
  { name: 'subject', label: 'About', cell: (event) => <Subject event={event} /> },
];

function Subject({ event }: { event: EventAnswer }) {
  if (event.job !== undefined) {
    return (
      <a class="mono" href={jobLink(event.job)} tabIndex={-1}>
        {event.job}
      </a>
    );
  }
  if (event.instance !== undefined) {
    return (
      <a class="mono" href={nodeLink(event.instance)} tabIndex={-1}>
        {event.instance}
      </a>
    );
  }
  return <>{event.type ?? ''}</>;
}

export function EventsView() {
  const { params } = route.value;
  const search = params.get('search') ?? '';
  const levelText = params.get('level') ?? '';
  const chosen = useMemo(() => levelText.split(',').filter((level) => Object.hasOwn(eventLooks, level)), [levelText]);
  const [open, setOpen] = useState<EventAnswer | undefined>(undefined);
  const all = events.value;
  const shown = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    const matching = (all ?? []).filter(
      (event) =>
        (chosen.length === 0 ? event.level !== 'debug' : chosen.includes(event.level)) &&
        (wanted === '' || `${event.text} ${event.code} ${event.job} ${event.instance}`.toLowerCase().includes(wanted)),
    );
    return matching.reverse();
  }, [all, chosen, search]);
  const show = (next: { search?: string; level?: string }): void =>
    goTo(linkTo(['events'], { search, level: levelText, ...next }), true);

  return (
    <>
      <header class="view-head">
        <h1 tabIndex={-1}>Events</h1>
        <p class="view-count" role={search === '' && chosen.length === 0 ? undefined : 'status'}>
          {all === undefined ? '' : counted(shown.length, 'event')}
        </p>
      </header>
      <div class="toolbar">
        <SearchField label="Search events" value={search} onSearch={(text) => show({ search: text })} />
        <FilterChips
          label="Levels shown"
          choices={levels.map((level) => ({ name: level, label: eventLooks[level].label, look: eventLooks[level] }))}
          chosen={chosen}
          otherwise="All but debug"
          onChange={(next) => show({ level: next.join(',') })}
        />
      </div>
      {all === undefined ? (
        <Loading lines={12} />
      ) : (
        <DataGrid
          label="Events"
          kind="events"
          columns={columns}
          items={shown}
          count={shown.length}
          keyOf={keyOf}
          onOpen={setOpen}
          empty={<Empty title={all.length === 0 ? 'Nothing has happened yet' : 'No matching events'} />}
        />
      )}
      {open !== undefined && <EventDialog event={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

const keyOf = (event: EventAnswer): string => String(event.seq);

function EventDialog({ event, onClose }: { event: EventAnswer; onClose: () => void }) {
  return (
    <Dialog title="Event" onClose={onClose}>
      <div class="dialog-body">
        <p class="event-text">{event.text}</p>
        <dl class="facts">
          <dt>Level</dt>
          <dd>
            <StateMark look={eventLooks[event.level]} />
          </dd>
          <dt>Time</dt>
          <dd>
            {exactTime(event.at)} (<Ago at={event.at} />)
          </dd>
          <dt>Code</dt>
          <dd class="mono">{event.code}</dd>
          {event.job !== undefined && (
            <>
              <dt>Job</dt>
              <dd class="mono">
                <a href={jobLink(event.job)} onClick={onClose}>
                  {event.job}
                </a>
              </dd>
            </>
          )}
          {event.instance !== undefined && (
            <>
              <dt>Node</dt>
              <dd class="mono">
                <a href={nodeLink(event.instance)} onClick={onClose}>
                  {event.instance}
                </a>
              </dd>
            </>
          )}
          {event.type !== undefined && (
            <>
              <dt>Node type</dt>
              <dd>{event.type}</dd>
            </>
          )}
        </dl>
      </div>
    </Dialog>
  );
}
