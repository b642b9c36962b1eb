import { useEffect, useState } from 'preact/hooks';
import type { JobAnswer } from '../../api/types.ts';
import { isOver } from '../../core/jobs/job.ts';
import { api, RequestFailure } from '../api/client.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Icon, StateMark } from '../parts/icon.tsx';
import { LogPanel } from '../parts/log/log-panel.tsx';
import { Empty, Failure, Loading } from '../parts/notice.tsx';
import { say, sayFailure } from '../parts/toasts.tsx';
import { Why } from '../parts/why.tsx';
import { watchJobs } from '../state/feed.ts';
import { goTo, jobLink, linkTo } from '../state/route.ts';
import { jobLooks } from '../words/states.ts';
import { Attempts, Environment, Facts } from './job-facts.tsx';

export function JobView({ id }: { id: string }) {
  const [job, setJob] = useState<JobAnswer | undefined>(undefined);
  const [failure, setFailure] = useState<RequestFailure | undefined>(undefined);

  const load = async (): Promise<void> => {
    try {
      setJob(await api.job(id));
      setFailure(undefined);
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
      if (problem.status === 404) setJob(undefined);
      setFailure(problem);
    }
  };

  useEffect(() => {
    void load();
    return watchJobs({
      changed: (rows) => {
        if (rows.some((row) => row.id === id)) void load();
      },
      resync: () => void load(),
    });
  }, [id]);

  return (
    <>
      <a class="back" href={linkTo(['jobs'])}>
        <Icon name="back" />
        Jobs
      </a>
      <header class="view-head job-head">
        <h1 tabIndex={-1} class="mono">
          {id}
        </h1>
        {job !== undefined && <StateMark look={jobLooks[job.state]} />}
        {job !== undefined && <Actions job={job} />}
      </header>
      {job !== undefined ? (
        <Shown job={job} />
      ) : failure === undefined ? (
        <Loading lines={10} />
      ) : failure.status === 404 ? (
        <Empty title={`Job ${id} not found`}>It may have been deleted.</Empty>
      ) : (
        <Failure failure={failure} onRetry={() => void load()} />
      )}
    </>
  );
}

function Shown({ job }: { job: JobAnswer }) {
  const [attempt, setAttempt] = useState<number | undefined>(undefined);
  const shown = attempt ?? job.attempts.at(-1)?.number;
  return (
    <>
      <pre class="entrypoint" aria-label="Command">
        {job.entrypoint}
      </pre>
      {job.message !== '' && <p class={job.state === 'failed' ? 'message is-bad' : 'message'}>{job.message}</p>}
      <div class="columns columns-job">
        <section class="card log-card" aria-label="Log">
          {shown === undefined ? (
            <Empty title="No output yet">The log starts with the first attempt.</Empty>
          ) : (
            <LogPanel key={shown} job={job.id} attempt={shown} over={isOver(job.state)} />
          )}
        </section>
        <div class="stack">
          <Facts job={job} />
          <Attempts job={job} shown={shown} onChoose={setAttempt} />
          <Why kind="job" id={job.id} stamp={job.state} />
          <Environment job={job} />
        </div>
      </div>
    </>
  );
}

function Actions({ job }: { job: JobAnswer }) {
  const [asking, setAsking] = useState<'stop' | 'delete' | undefined>(undefined);
  const over = isOver(job.state);
  const act = async (doing: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (problem) {
      sayFailure(doing, problem);
    }
  };
  const stop = (): Promise<void> =>
    act('Could not stop the job', async () => {
      await api.stop(job.id);
      say(`Stopping ${job.id}`);
    });
  const retry = (): Promise<void> =>
    act('Could not run the job again', async () => {
      const again = await api.retry(job.id);
      say(`Submitted as ${again.id}`);
      goTo(jobLink(again.id));
    });
  const remove = (): Promise<void> =>
    act('Could not delete the job', async () => {
      await api.remove(job.id);
      say(`Deleted ${job.id}`);
      goTo(linkTo(['jobs']));
    });
  return (
    <div class="actions">
      {over ? (
        <>
          <button type="button" class="button" onClick={() => void retry()}>
            <Icon name="retry" />
            Run again
          </button>
          <button type="button" class="button" onClick={() => setAsking('delete')}>
            <Icon name="bin" />
            Delete
          </button>
        </>
      ) : (
        <button type="button" class="button" disabled={job.state === 'stopping'} onClick={() => setAsking('stop')}>
          <Icon name="stop" />
          {job.state === 'stopping' ? 'Stopping…' : 'Stop'}
        </button>
      )}
      {asking === 'stop' && (
        <Confirm
          title="Stop this job?"
          action="Stop job"
          onClose={() => setAsking(undefined)}
          onConfirm={() => void stop()}
        >
          <p>
            <b class="mono">{job.id}</b> and every process it started are told to stop, and killed if they do not.
          </p>
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm
          title="Delete this job?"
          action="Delete job"
          onClose={() => setAsking(undefined)}
          onConfirm={() => void remove()}
        >
          <p>
            <b class="mono">{job.id}</b> and its logs are permanently deleted from the head.
          </p>
        </Confirm>
      )}
    </div>
  );
}
