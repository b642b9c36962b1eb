import { useEffect } from 'preact/hooks';
import type { DemandAnswer } from '../../api/types.ts';
import { passReasonWords, placeWords } from '../../core/plan/words.ts';
import { StateMark } from '../parts/icon.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { now } from '../state/clock.ts';
import { demand, refreshDemand } from '../state/cluster.ts';
import { counted, countText } from '../words/amounts.ts';
import { infeasibleTitle, pendingCount, requestText, waitingTitle } from '../words/demand.ts';
import type { Look } from '../words/states.ts';
import { exactTime, relativeTime } from '../words/time.ts';

/** More shapes than this are not read by anyone; the rest is counted. */
const shapesShown = 200;

export function DemandView() {
  useEffect(() => void refreshDemand(), []);
  const shown = demand.value;
  return (
    <>
      <header class="view-head">
        <h1 tabIndex={-1}>Demand</h1>
        <p class="view-count">{shown === undefined ? '' : `${countText(pendingCount(shown.demand))} waiting`}</p>
      </header>
      {shown === undefined ? <Loading lines={8} /> : <Shown answer={shown} />}
    </>
  );
}

function Shown({ answer }: { answer: DemandAnswer }) {
  const { tasks, gangs, standing } = answer.demand;
  const nothing =
    answer.waiting.length + answer.infeasible.length + tasks.length + gangs.length + standing.length === 0;
  if (nothing) {
    return (
      <div class="card">
        <Empty title="Nothing is waiting">All demand is placed.</Empty>
      </div>
    );
  }
  return (
    <div class="stack scroll">
      {answer.infeasible.length > 0 && (
        <section aria-labelledby="never">
          <h2 id="never">Can never be placed</h2>
          <div class="stack">
            {answer.infeasible.slice(0, shapesShown).map((entry, index) => (
              <Entry key={index} look={never} title={infeasibleTitle(entry)} text={entry.text} passed={entry.types} />
            ))}
          </div>
        </section>
      )}
      {answer.waiting.length > 0 && (
        <section aria-labelledby="waiting">
          <h2 id="waiting">Waiting</h2>
          <div class="stack">
            {answer.waiting.slice(0, shapesShown).map((entry, index) => (
              <Entry
                key={index}
                look={waits}
                title={waitingTitle(entry)}
                text={entry.text}
                passed={entry.for}
                until={entry.until}
              />
            ))}
          </div>
        </section>
      )}
      <Asked demand={answer.demand} />
    </div>
  );
}

function Asked({ demand: { tasks, gangs, standing } }: { demand: DemandAnswer['demand'] }) {
  return (
    <section aria-labelledby="asked">
      <h2 id="asked">All demand</h2>
      <div class="card table-card">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Resources each</th>
              <th scope="col" class="cell-right">
                Count
              </th>
            </tr>
          </thead>
          <tbody>
            {tasks.slice(0, shapesShown).map((task, index) => (
              <tr key={`task-${index}`}>
                <td>Tasks</td>
                <td>{requestText(task.request)}</td>
                <td class="cell-right">{countText(task.count)}</td>
              </tr>
            ))}
            {gangs.slice(0, shapesShown).map((gang) => (
              <tr key={gang.id}>
                <td>
                  Gang <span class="mono">{gang.id}</span>
                </td>
                <td>
                  {gang.requests[0] === undefined ? '' : requestText(gang.requests[0])}
                  {gang.details !== undefined && <span class="quiet"> {gang.details}</span>}
                </td>
                <td class="cell-right">{countText(gang.requests.length)}</td>
              </tr>
            ))}
            {standing.flatMap((request, place) =>
              request.requests.slice(0, shapesShown).map((task, index) => (
                <tr key={`standing-${place}-${index}`}>
                  <td>Standing request</td>
                  <td>{requestText(task.request)}</td>
                  <td class="cell-right">{countText(task.count)}</td>
                </tr>
              )),
            )}
            {tasks.length > shapesShown && (
              <tr>
                <td colSpan={3}>and {counted(tasks.length - shapesShown, 'more shape')}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const never: Look = { label: 'Can never be placed', tone: 'bad', shape: 'alert' };
const waits: Look = { label: 'Waits', tone: 'warn', shape: 'clock' };

interface EntryProps {
  readonly look: Look;
  readonly title: string;
  readonly text: string;
  readonly passed: DemandAnswer['waiting'][number]['for'];
  readonly until?: number | undefined;
}

function Entry({ look, title, text, passed, until }: EntryProps) {
  return (
    <article class="card entry">
      <header class="entry-head">
        <StateMark look={look} quiet />
        <h3>{title}</h3>
        {until !== undefined && until > now.value && (
          <span class="entry-until" title={exactTime(until)}>
            looks again {relativeTime(until, now.value)}
          </span>
        )}
      </header>
      <p class="entry-text">{text}</p>
      {passed.length > 0 && (
        <table class="table passed">
          <tbody>
            {passed.map((each, index) => (
              <tr key={index}>
                <th scope="row">{placeWords(each)}</th>
                <td>{passReasonWords(each.why, now.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </article>
  );
}
