import { useEffect, useState } from 'preact/hooks';
import type { OtherRow } from '../../api/types.ts';
import { api } from '../api/client.ts';
import { StateMark } from '../parts/icon.tsx';
import { Ago } from '../parts/time.tsx';
import { counted } from '../words/amounts.ts';
import { jobLooks } from '../words/states.ts';

const lookEvery = 10_000;
const mostShown = 50;

/** Jobs that were given to Ray itself, and drivers that were started by hand: Manta shows them, and leaves them alone. */
export function RayJobs() {
  const [rows, setRows] = useState<readonly OtherRow[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    const look = (): void => {
      if (document.hidden) return;
      // The list of the queue tells when the head does not answer.
      api.jobs({ limit: 1, others: '1' }, leaving.signal).then(
        ({ others = [] }) => setRows(others),
        () => {},
      );
    };
    look();
    const timer = setInterval(look, lookEvery);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, []);
  if (rows.length === 0) return null;
  return (
    <details class="ray-jobs">
      <summary>{counted(rows.length, 'job')} submitted directly to Ray</summary>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Ray job</th>
            <th scope="col">Command</th>
            <th scope="col" class="cell-right">
              Submitted
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostShown).map((row) => (
            <tr key={row.id}>
              <td>
                <StateMark look={jobLooks[row.state]} />
              </td>
              <th scope="row" class="mono">
                {row.id}
              </th>
              <td class="mono">{row.entrypoint}</td>
              <td class="cell-right">{row.submittedAt === undefined ? '–' : <Ago at={row.submittedAt} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostShown && <p>And {counted(rows.length - mostShown, 'more job', 'more jobs')}.</p>}
    </details>
  );
}
