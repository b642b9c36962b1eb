import { Fragment } from 'preact';
import type { JobAnswer } from '../../api/types.ts';
import { isOver } from '../../core/jobs/job.ts';
import { StateMark } from '../parts/icon.tsx';
import { Ago, Took } from '../parts/time.tsx';
import { instanceOfNode } from '../state/cluster.ts';
import { jobLink, nodeLink } from '../state/route.ts';
import { resourcesText } from '../words/amounts.ts';
import { causeLook, jobLooks } from '../words/states.ts';
import { durationText } from '../words/time.ts';

export function Facts({ job }: { job: JobAnswer }) {
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
            <dt>{job.endedAt === undefined ? 'Running for' : 'Ran for'}</dt>
            <dd>
              <Took from={job.startedAt} to={job.endedAt} />
            </dd>
          </>
        )}
        <dt>Resources</dt>
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

/** Every run of the entrypoint, the last one first; choosing one shows its log. */
export function Attempts({ job, shown, onChoose }: AttemptsProps) {
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
export function Environment({ job }: { job: JobAnswer }) {
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
          <Fragment key={name}>
            <dt class="mono">{name}</dt>
            <dd aria-label="hidden value">••••••</dd>
          </Fragment>
        ))}
        {Object.entries(rest).map(([name, value]) => (
          <Fragment key={name}>
            <dt class="mono">{name}</dt>
            <dd class="mono wrap">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </Fragment>
        ))}
        {metadata.map(([name, value]) => (
          <Fragment key={`metadata-${name}`}>
            <dt>{name}</dt>
            <dd class="wrap">{value}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
