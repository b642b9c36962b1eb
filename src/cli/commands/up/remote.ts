import type { TurnOffAnswer } from '../../../api/types.ts';
import type { MantaError } from '../../../base/errors.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { HttpClient } from '../../../client/http.ts';
import { type MeantCluster, targetFor } from '../../../client/target.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { leaveForRay } from '../../../launcher/reach/ray-compat.ts';
import { openRemote } from '../../../launcher/reach/remote-cluster.ts';
import type { UpPlan } from '../../../launcher/up/plan.ts';
import { type UpRemoteResult, upRemote } from '../../../launcher/up/remote.ts';
import { MantadFollower, type Waited, waitForWorkers } from '../../../launcher/up/wait-workers.ts';
import { stateHome } from '../../../state/state-folder.ts';
import type { Io } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { turnOffLine, turnOffOf, untilGiven } from '../../shared/turn-off-words.ts';
import type { CloudHead } from './cloud.ts';
import { cloudLines } from './cloud-plan-text.ts';
import { isNothing, planText } from './plan-text.ts';
import { overridesIn, type UpSettings } from './up.ts';
import { warnOfFile } from './warnings.ts';

/** `up` of a cluster of other machines: shows the plan, asks, brings the head up, and waits for the workers. */
export async function bringUpRemote(meant: MeantCluster, settings: UpSettings, io: Io): Promise<number> {
  const home = stateHome(io.env);
  const overrides = overridesIn(settings);
  const until = untilGiven(settings);
  const { headInCloud } = await import('./cloud.ts');
  const head = await headInCloud(meant, settings, io);
  if (head.is === 'declined') return settings.plan ? 0 : 1;
  const cluster = openRemote({ home, ...meant, ...(head.file && { file: head.file }), overrides });
  warnOfFile(cluster, io);
  let agreedTo = false;
  let told: MantadFollower | undefined;
  try {
    const result = await upRemote(
      {
        cluster,
        home,
        overrides,
        ...(until && { until }),
        noRestart: settings.noRestart === true,
        restartOnly: settings.restartOnly === true,
        loginShells: settings.useLoginShells !== false,
        usageStats: settings.disableUsageStats !== true,
        cwd: io.cwd,
        env: io.env,
        clock: wallClock,
        events: io.events,
        onHandedOver: (began) => {
          const target = targetFor({ name: cluster.name }, io.env, io.events);
          told = new MantadFollower(target, began, io.events, io.signal);
        },
        agree: async (plan) => (agreedTo = await agreed(plan, head, settings, io)),
      },
      io.signal,
    );
    if (!result.done) {
      const plan = { ...result.plan, ...(head.cloud && { cloud: head.cloud }) };
      if (io.json) io.out(`${JSON.stringify({ name: cluster.name, done: false, plan })}\n`);
      return settings.plan ? 0 : 1;
    }
    const waited = settings.noWait ? undefined : told && (await workers(cluster.name, result, told, io));
    if (cluster.spec.provider.kind === 'own-hosts')
      await leaveForRay(cluster, addressesOf(waited), io.signal).catch((error: unknown) =>
        io.events.emit(launcherEvents.notForRay, { why: (error as Error).message }),
      );
    tell(cluster.name, result, waited, await turnOffOf(cluster.name, io), io);
    return waited === undefined || waited.troubles.length === 0 ? 0 : 1;
  } finally {
    if (agreedTo && io.signal.aborted) io.events.emit(launcherEvents.cutShort, { name: cluster.name, what: 'up' });
    await told?.close();
    await cluster.close();
  }
}

const addressesOf = (waited: Waited | undefined): readonly string[] =>
  waited?.running.flatMap(({ address }) => address ?? []) ?? [];

/** An instance that was agreed to costs money from then on: nobody is asked twice about it. */
async function agreed(plan: UpPlan, { is, cloud }: CloudHead, settings: UpSettings, io: Io): Promise<boolean> {
  const inCloud = settings.plan && cloud ? cloudLines(cloud).map((line) => `${line}\n`) : [];
  const text = `${planText(plan)}${inCloud.join('')}`;
  if (settings.plan) {
    if (!io.json) io.out(text);
    return false;
  }
  if (settings.yes || is === 'agreed' || isNothing(plan)) {
    if (!io.json) process.stderr.write(text);
    return true;
  }
  const nobody = (): MantaError => launcherErrors.NotAgreed({ name: plan.cluster, plan: text });
  return await confirmed('Continue?', false, io, { shown: text, nobody });
}

async function workers(name: string, { plan }: UpRemoteResult, told: MantadFollower, io: Io): Promise<Waited> {
  const http = new HttpClient(targetFor({ name }, io.env, io.events), io.signal);
  try {
    return await waitForWorkers(http, plan.workers.wanted, told, io.signal);
  } finally {
    http.close();
  }
}

function tell(
  name: string,
  result: UpRemoteResult,
  waited: Waited | undefined,
  turnOff: TurnOffAnswer | undefined,
  io: Io,
): void {
  if (io.json) {
    io.out(
      `${JSON.stringify({ name, done: true, plan: result.plan, ...(waited && { workers: waited }), ...(turnOff && { turnOff }) })}\n`,
    );
    return;
  }
  const { wanted } = result.plan.workers;
  const first =
    waited === undefined
      ? `The head of '${name}' is up; mantad is bringing up ${workersWords(wanted)}.`
      : waited.troubles.length === 0
        ? `The cluster '${name}' is up: a head and ${workersWords(waited.running.length)}.`
        : `The head of '${name}' is up, with ${waited.running.length} of ${workersWords(wanted)}. mantad keeps trying:\n${waited.troubles.map((each) => `  ${each}`).join('\n')}`;
  const rolled =
    result.plan.workers.rolled.length > 0
      ? '\nmantad sets up each worker again when its work is done; follow it with manta events -f.'
      : '';
  io.out(`${first}${rolled}

  show its status    manta status ${name}
  open a shell       manta attach ${name}
  run a command      manta exec ${name} 'python train.py'
  queue a job        manta job submit -n ${name} -- python train.py
  open its page      manta dashboard ${name}
  shut it down       manta down ${name}
${turnOffLine(turnOff)}`);
}

const workersWords = (count: number): string => `${count} ${count === 1 ? 'worker' : 'workers'}`;
