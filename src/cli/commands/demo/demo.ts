import { randomBytes } from 'node:crypto';
import type { ClusterAnswer, EventAnswer, JobRow, NodeAnswer } from '../../../api/types.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { HttpClient } from '../../../client/http.ts';
import { openJobs } from '../../../client/jobs.ts';
import { readStream } from '../../../client/stream.ts';
import { targetFor } from '../../../client/target.ts';
import { isOver } from '../../../core/jobs/job.ts';
import { down } from '../../../launcher/down/this-machine.ts';
import { demoJobs, demoName, demoSpec } from '../../../launcher/up/demo-cluster.ts';
import { up } from '../../../launcher/up/this-machine.ts';
import { readConfig } from '../../../state/load-spec.ts';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { cliEvents } from '../../events.ts';

/** Scaling down takes the idle time and a moment; a machine that is too busy for that is not a reason to hang. */
const patience = 60_000;

export const run: Run = async (_invocation, io) => {
  const folder = stateFolder(stateHome(io.env), demoName);
  // Ended with a signal of its own: the one of the command may be what ends the show.
  const tidy = (): Promise<unknown> =>
    down({ folder, keepState: false, clock: wallClock, events: io.events }, AbortSignal.timeout(patience));
  let left = false;
  try {
    const { serving } = await up(
      {
        home: stateHome(io.env),
        name: demoName,
        file: readConfig({ path: 'demo', text: demoSpec, env: {} }),
        overrides: {},
        clock: wallClock,
        events: io.events,
      },
      io.signal,
    );
    const http = new HttpClient(targetFor({ name: demoName }, io.env, io.events), io.signal);
    const { ticket } = await http.json<{ ticket: string }>('POST', '/api/manta/v1/tickets');
    io.events.emit(cliEvents.demoPage, { url: `${serving.url}/?ticket=${ticket}` });
    const done = await show(http, io);
    left = io.terminal;
    io.out(summary(done, serving.url, left));
    return done.failed === 0 ? 0 : 1;
  } finally {
    if (!left) await tidy();
  }
};

interface Done {
  readonly jobs: number;
  readonly failed: number;
  readonly mostWorkers: number;
  readonly seconds: number;
}

/** Submits the sweep and tells what happens until it is done and the workers have gone. */
async function show(http: HttpClient, io: Io): Promise<Done> {
  const began = performance.now();
  const client = await openJobs({ http, signal: io.signal, events: io.events });
  const ids = new Map<string, JobRow['state']>();
  const sweep = randomBytes(2).toString('hex');
  for (const job of demoJobs(process.execPath, sweep)) {
    await client.submit(job);
    ids.set(job.id, 'queued');
  }
  const watching = new AbortController();
  const signal = AbortSignal.any([io.signal, watching.signal]);
  const timer = setTimeout(() => watching.abort(), patience + ids.size * 10_000);
  let workers = 0;
  let mostWorkers = 0;
  let told = '';
  const count = (wanted: (state: JobRow['state']) => boolean): number => [...ids.values()].filter(wanted).length;
  const over = (): boolean => count(isOver) === ids.size;
  const tell = (): void => {
    const counts = { jobs: ids.size, over: count(isOver), running: count((state) => state === 'running'), workers };
    const text = JSON.stringify(counts);
    if (text === told) return;
    told = text;
    const state = over() && workers === 0 ? 'done' : 'running';
    io.events.emit(cliEvents.demoSweep, counts, { id: 'sweep', state, fraction: counts.over / ids.size });
  };
  try {
    let caughtUp = false;
    for await (const { kind, data } of readStream(http, 0, { signal, events: io.events })) {
      // The stream tells changes from its opening on; some jobs may run already.
      if (!caughtUp) for await (const job of client.list({ search: `pi-${sweep}-` })) ids.set(job.id, job.state);
      caughtUp = true;
      if (kind === 'job' && ids.has((data as JobRow).id)) ids.set((data as JobRow).id, (data as JobRow).state);
      if (kind === 'nodes') workers = (data as readonly NodeAnswer[]).filter((node) => node.kind === 'worker').length;
      if (kind === 'cluster' && over())
        workers = Math.min(workers, (data as ClusterAnswer).nodes.running + (data as ClusterAnswer).nodes.pending - 1);
      if (kind === 'event' && /^MANTA_AUTOSCALER_(LAUNCHING|ENDING)$/.test((data as EventAnswer).code))
        io.events.emit(cliEvents.demoScaling, { text: (data as EventAnswer).text });
      mostWorkers = Math.max(mostWorkers, workers);
      tell();
      if (over() && workers === 0) break;
    }
  } finally {
    clearTimeout(timer);
    watching.abort();
  }
  const failed = count((state) => state === 'failed' || state === 'stopped');
  return { jobs: ids.size, failed, mostWorkers, seconds: (performance.now() - began) / 1000 };
}

function summary(done: Done, url: string, running: boolean): string {
  const story = `${done.jobs} jobs ran in ${done.seconds.toFixed(1)} s on up to ${done.mostWorkers} workers, which started and stopped with the load.`;
  if (!running) return `${story}\nThe cluster was shut down because there is no terminal.\n`;
  return `${story}

The cluster still runs. Try next:
  manta dashboard -n ${demoName}                 open its page (${url})
  manta job list -n ${demoName}                  list its jobs
  manta job submit -n ${demoName} -- sleep 30    run your own command
  manta status -n ${demoName}                    show its status
  eval "$(manta env -n ${demoName})"             use Ray's own tools: ray job submit -- …
  manta down -n ${demoName}                      shut it down
In a checkout 'manta' is bin/manta.
`;
}
