import { batch, effect } from '@preact/signals';
import type { ClusterAnswer, EventAnswer, JobRow, Mark, NodeAnswer, SamplePoint, StreamKind } from '../../api/types.ts';
import type { ServerEvent } from '../../base/network/sse.ts';
import { api, apiUrl, RequestFailure } from '../api/client.ts';
import { Line } from '../api/line.ts';
import {
  cluster,
  connection,
  events,
  loadFailure,
  nodes,
  refreshDemand,
  session,
  takeCluster,
  takeEvents,
} from './cluster.ts';
import { loadHistory, range, takeMark, takeSample } from './history.ts';

type JobListener = { changed(rows: readonly JobRow[]): void; resync(): void };

const jobListeners = new Set<JobListener>();
const eventsAtFirst = 1000;
const historyEvery = 30_000;
const historyAfter = 1500;

let line: Line | undefined;
/** Counts lists of nodes that came by the stream, so that an older answer does not overwrite one. */
let nodeLists = 0;
let pending: { jobs: Map<string, JobRow>; events: EventAnswer[]; rest: (() => void)[] } | undefined;

/** Hears of changed jobs, and that changes may have been missed. Returns the unsubscribe. */
export function watchJobs(listener: JobListener): () => void {
  jobListeners.add(listener);
  return () => jobListeners.delete(listener);
}

export function retryConnection(): void {
  line?.retryNow();
}

/** Loads everything once and keeps it current; returns when the first answer is shown or the token is missing. */
export async function startFeed(): Promise<void> {
  line?.close();
  line = undefined;
  try {
    takeCluster(await api.cluster());
    loadFailure.value = undefined;
    session.value = 'in';
    takeEvents(await api.events(undefined, eventsAtFirst));
  } catch (problem) {
    if (!(problem instanceof RequestFailure)) throw problem;
    if (problem.signedOut) session.value = 'out';
    else {
      loadFailure.value = problem;
      connection.value = { kind: 'lost', retryAt: Date.now() + 2000, reason: problem.message };
      setTimeout(() => void startFeed(), 2000);
    }
    return;
  }
  const from = events.value?.at(-1)?.seq;
  line = new Line({
    url: () => apiUrl('stream'),
    ...(from === undefined ? {} : { from: String(from) }),
    onMessage: enqueue,
    onState: (state) => {
      connection.value = state;
      if (state.kind === 'open') void resync();
    },
    onFailure: (failure) => {
      if (failure.signedOut) session.value = 'out';
      return failure.signedOut;
    },
  });
}

/** The stream does not replay states: after a reconnect they are fetched again. */
async function resync(): Promise<void> {
  for (const listener of jobListeners) listener.resync();
  const before = nodeLists;
  void refreshDemand();
  void loadHistory();
  try {
    takeCluster(await api.cluster());
    const list = await api.nodes();
    if (before === nodeLists) nodes.value = list;
    await renewEvents();
  } catch (problem) {
    if (!(problem instanceof RequestFailure)) throw problem;
    if (problem.signedOut) session.value = 'out';
  }
}

/** A cluster that was created again counts its events from the start again. */
async function renewEvents(): Promise<void> {
  const newest = (await api.events(undefined, 1)).at(-1)?.seq ?? -1;
  if (newest >= (events.value?.at(-1)?.seq ?? -1)) return;
  const all = await api.events(undefined, eventsAtFirst);
  events.value = undefined;
  takeEvents(all);
}

/** A burst of messages is shown once a frame. */
function enqueue(message: ServerEvent): void {
  if (pending === undefined) {
    pending = { jobs: new Map(), events: [], rest: [] };
    if (document.hidden) setTimeout(flush, 200);
    else requestAnimationFrame(flush);
  }
  const kind = message.event as StreamKind;
  const data: unknown = JSON.parse(message.data);
  switch (kind) {
    case 'job':
      pending.jobs.set((data as JobRow).id, data as JobRow);
      break;
    case 'event':
      pending.events.push(data as EventAnswer);
      break;
    case 'nodes':
      nodeLists += 1;
      pending.rest.push(() => {
        nodes.value = data as NodeAnswer[];
      });
      break;
    case 'cluster':
      pending.rest.push(() => takeCluster(data as ClusterAnswer));
      break;
    case 'sample':
      pending.rest.push(() => takeSample(data as SamplePoint));
      break;
    case 'mark':
      pending.rest.push(() => takeMark(data as Mark));
      break;
  }
}

function flush(): void {
  const now = pending;
  pending = undefined;
  if (now === undefined) return;
  batch(() => {
    for (const apply of now.rest) apply();
    if (now.events.length > 0) takeEvents(now.events);
    if (now.events.some((event) => event.instance !== undefined || event.type !== undefined)) renewHistory();
    if (now.jobs.size > 0) for (const listener of jobListeners) listener.changed([...now.jobs.values()]);
  });
}

let historyTimer: ReturnType<typeof setTimeout> | undefined;

/** Something happened to nodes: the marks of the chart are fetched again, once for a burst. */
function renewHistory(): void {
  historyTimer ??= setTimeout(() => {
    historyTimer = undefined;
    void loadHistory();
  }, historyAfter);
}

/** What the stream does not carry is asked for when what it depends on has changed. */
export function followUps(): void {
  let demandTimer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    void cluster.value?.now;
    demandTimer ??= setTimeout(() => {
      demandTimer = undefined;
      if (session.peek() === 'in' && connection.peek().kind === 'open') void refreshDemand();
    }, 2000);
  });
  effect(() => {
    void range.value;
    if (session.peek() === 'in') void loadHistory();
  });
  setInterval(() => {
    if (!document.hidden && connection.value.kind === 'open') void loadHistory();
  }, historyEvery);
}
