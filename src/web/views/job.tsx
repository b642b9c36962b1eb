import { useEffect, useState } from 'preact/hooks';
import { isOver } from '../../core/jobs/job.ts';
import type { JobAnswer } from '../../head/api/types.ts';
import { api, RequestFailure } from '../api/client.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Icon, StateMark } from '../parts/icon.tsx';
import { LogPanel } from '../parts/log-panel.tsx';
import { Empty, Failure, Loading } from '../parts/notice.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { say, sayFailure } from '../parts/toasts.tsx';
import { Why } from '../parts/why.tsx';
import { instanceOfNode } from '../state/cluster.ts';
import { watchJobs } from '../state/feed.ts';
import { goTo, jobLink, linkTo, nodeLink } from '../state/route.ts';
import { resourcesText } from '../words/amounts.ts';
import { causeLook, jobLooks } from '../words/states.ts';
import { durationText } from '../words/time.ts';

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
        <Empty title={`There is no job ${id}`}>It may have been deleted.</Empty>
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
            <Empty title="No output yet">The log begins with the first attempt.</Empty>
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
    act('Could not run it again', async () => {
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
            <b class="mono">{job.id}</b> and every process it started are asked to end, and are killed if they do not.
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
            <b class="mono">{job.id}</b> and its logs are removed from the head for good.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function Facts({ job }: { job: JobAnswer }) {
  const node = job.attempts.at(-1)?.node;
  const instance = node === undefined ? undefined : instanceOfNode.value.get(node);
  return (
    <section class="card" aria-labelledby="job-facts">
      <header class="card-head">
        <h2 id="job-facts">Facts</h2>
      </header>
      <dl class="facts">
        <dt>User</dt>
        <dd>{job.user}</dd>
        <dt>Submitted</dt>
        <dd>
          <Ago at={job.submittedAt} />
        </dd>
        {job.startedAt !== undefined && (
          <>
            <dt>Waited</dt>
            <dd>{durationText(job.startedAt - job.submittedAt)}</dd>
            <dt>{job.endedAt === undefined ? 'Runs for' : 'Ran for'}</dt>
            <dd>
              <Took from={job.startedAt} to={job.endedAt} />
            </dd>
          </>
        )}
        <dt>Asks for</dt>
        <dd>{resourcesText(job.resources)}</dd>
        {job.gang !== undefined && (
          <>
            <dt>Gang</dt>
            <dd>
              {job.gang.bundles.length} × {resourcesText(job.gang.bundles[0] ?? {})}, {job.gang.strategy}
            </dd>
          </>
        )}
        {node !== undefined && (
          <>
            <dt>Node</dt>
            <dd class="mono">{instance === undefined ? node : <a href={nodeLink(instance)}>{instance}</a>}</dd>
          </>
        )}
        {job.exitCode !== undefined && (
          <>
            <dt>Exit code</dt>
            <dd class="mono">{job.exitCode}</dd>
          </>
        )}
        <dt>Priority</dt>
        <dd>{job.priority}</dd>
        {job.timeLimit !== undefined && (
          <>
            <dt>Time limit</dt>
            <dd>{durationText(job.timeLimit)}</dd>
          </>
        )}
        {job.cron !== undefined && (
          <>
            <dt>Schedule</dt>
            <dd class="mono">{job.cron}</dd>
          </>
        )}
        {job.dependsOn.length > 0 && (
          <>
            <dt>After</dt>
            <dd class="mono">
              {job.dependsOn.map((other) => (
                <a key={other} href={jobLink(other)}>
                  {other}{' '}
                </a>
              ))}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

interface AttemptsProps {
  readonly job: JobAnswer;
  readonly shown: number | undefined;
  readonly onChoose: (attempt: number) => void;
}

function Attempts({ job, shown, onChoose }: AttemptsProps) {
  if (job.attempts.length === 0) return null;
  return (
    <section class="card" aria-labelledby="job-attempts">
      <header class="card-head">
        <h2 id="job-attempts">Attempts</h2>
      </header>
      <ol class="plain-list attempts">
        {job.attempts.toReversed().map((each) => (
          <li key={each.id}>
            <button
              type="button"
              class="attempt"
              aria-pressed={each.number === shown}
              aria-label={`Log of attempt ${each.number}`}
              onClick={() => onChoose(each.number)}
            >
              <span class="attempt-number">#{each.number}</span>
              <StateMark
                look={
                  each.cause === undefined ? jobLooks[isOver(job.state) ? 'stopped' : job.state] : causeLook(each.cause)
                }
              />
              <span class="attempt-side">
                {each.startedAt === undefined ? 'not started' : <Took from={each.startedAt} to={each.endedAt} />}
              </span>
              {each.message !== undefined && each.message !== '' && <span class="attempt-message">{each.message}</span>}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Names only: values of environment variables are often secrets and have no place on a screen. */
function Environment({ job }: { job: JobAnswer }) {
  const { env_vars: variables, ...rest } = job.runtimeEnv;
  const names = Object.keys(variables ?? {});
  const metadata = Object.entries(job.metadata);
  if (names.length + metadata.length + Object.keys(rest).length === 0) return null;
  return (
    <section class="card" aria-labelledby="job-environment">
      <header class="card-head">
        <h2 id="job-environment">Environment</h2>
      </header>
      <dl class="facts">
        {names.map((name) => (
          <>
            <dt class="mono">{name}</dt>
            <dd aria-label="hidden value">••••••</dd>
          </>
        ))}
        {Object.entries(rest).map(([name, value]) => (
          <>
            <dt class="mono">{name}</dt>
            <dd class="mono wrap">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </>
        ))}
        {metadata.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="wrap">{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
