import { useEffect, useMemo } from 'preact/hooks';
import type { JobRow, WireJobState } from '../../api/types.ts';
import { type Column, DataGrid } from '../parts/data-grid.tsx';
import { FilterChips, SearchField } from '../parts/filters.tsx';
import { StateMark } from '../parts/icon.tsx';
import { Empty, Failure, Loading } from '../parts/notice.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { cluster } from '../state/cluster.ts';
import { watchJobs } from '../state/feed.ts';
import { JobList } from '../state/job-list.ts';
import { goTo, jobLink, linkTo, route } from '../state/route.ts';
import { counted, resourcesText } from '../words/amounts.ts';
import { jobLooks, jobStates } from '../words/states.ts';
import { RayJobs } from './ray-jobs.tsx';

const columns: readonly Column<JobRow>[] = [
  { name: 'state', label: 'State', cell: (row) => <StateMark look={jobLooks[row.state]} /> },
  {
    name: 'id',
    label: 'Job',
    cell: (row) => (
      <a href={jobLink(row.id)} class="mono" tabIndex={-1}>
        {row.id}
      </a>
    ),
  },
  {
    name: 'entrypoint',
    label: 'Command',
    cell: (row) => (
      <span class="mono" title={row.entrypoint}>
        {row.entrypoint}
      </span>
    ),
  },
  { name: 'user', label: 'User', cell: (row) => row.user },
  {
    name: 'resources',
    label: 'Asks for',
    cell: (row) => <span title={resourcesText(row.resources)}>{resourcesText(row.resources)}</span>,
  },
  { name: 'attempts', label: 'Tries', right: true, cell: (row) => row.attempts },
  {
    name: 'took',
    label: 'Took',
    right: true,
    cell: (row) => (row.startedAt === undefined ? '–' : <Took from={row.startedAt} to={row.endedAt} />),
  },
  { name: 'submitted', label: 'Submitted', right: true, cell: (row) => <Ago at={row.submittedAt} /> },
];

export function JobsView() {
  const { params } = route.value;
  const search = params.get('search') ?? '';
  const stateText = params.get('state') ?? '';
  const states = useMemo(
    () => stateText.split(',').filter((name): name is WireJobState => (jobStates as readonly string[]).includes(name)),
    [stateText],
  );
  const list = useMemo(() => new JobList({ states, search }), []);
  useEffect(() => list.setFilter({ states, search }), [list, states, search]);
  useEffect(() => {
    const unwatch = watchJobs({ changed: (rows) => list.takeChanges(rows), resync: () => void list.reload() });
    return () => {
      unwatch();
      list.close();
    };
  }, [list]);

  const show = (next: { search?: string; state?: string }): void =>
    goTo(linkTo(['jobs'], { search, state: stateText, ...next }), true);
  const window = list.window.value;
  const filtered = states.length > 0 || search !== '';

  return (
    <>
      <header class="view-head">
        <h1 tabIndex={-1}>Jobs</h1>
        <p class="view-count" role={filtered ? 'status' : undefined}>
          {window === undefined ? '' : counted(window.total, filtered ? 'match' : 'job', filtered ? 'matches' : 'jobs')}
        </p>
      </header>
      <div class="toolbar">
        <SearchField label="Search id, command or user" value={search} onSearch={(text) => show({ search: text })} />
        <FilterChips
          label="States shown"
          choices={jobStates.map((state) => ({
            name: state,
            label: jobLooks[state].label,
            look: jobLooks[state],
            count: cluster.value?.jobs[state],
          }))}
          chosen={states}
          onChange={(chosen) => show({ state: chosen.join(',') })}
        />
      </div>
      <RayJobs />
      {list.failure.value !== undefined && <Failure failure={list.failure.value} onRetry={() => void list.reload()} />}
      {window === undefined ? (
        <Loading lines={12} />
      ) : (
        <DataGrid
          label="Jobs"
          kind="jobs"
          columns={columns}
          items={window.rows}
          count={window.total}
          keyOf={keyOf}
          onOpen={(row) => goTo(jobLink(row.id))}
          onSight={(last) => list.wantRows(last)}
          empty={
            filtered ? (
              <Empty title="No matching jobs">
                <button type="button" class="link-button" onClick={() => show({ search: '', state: '' })}>
                  Show all jobs
                </button>
              </Empty>
            ) : (
              <Empty title="No jobs yet">
                Submit one with <code>manta job submit -- echo hello</code> or New job.
              </Empty>
            )
          }
        />
      )}
    </>
  );
}

const keyOf = (row: JobRow): string => row.id;
