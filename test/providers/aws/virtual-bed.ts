// needs: botocore

import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EC2Client } from '@aws-sdk/client-ec2';
import { PricingClient } from '@aws-sdk/client-pricing';
import type { Aws } from '../../../lab/aws/open.ts';
import type { Cloud } from '../../../lab/cloud/cloud.ts';
import type { CloudInstance } from '../../../lab/cloud/instance.ts';
import type { SettingsPatch } from '../../../lab/cloud/settings.ts';
import type { NodeStarter } from '../../../src/autoscaler/starter.ts';
import { rayTags } from '../../../src/core/ray-tags.ts';
import type { PreparedAws } from '../../../src/providers/aws/prepared.ts';
import type { AwsProvider } from '../../../src/providers/aws/provider.ts';
import { faultProfiles } from '../../../src/simulation/faults.ts';
import type { WorkFile } from '../../../src/simulation/scenario/scenario-file.ts';
import type { VirtualTime } from '../../../src/simulation/virtual-time.ts';
import { World } from '../../../src/simulation/world.ts';
import { loopIn } from '../../autoscaler/loop-in-world.ts';
import { inTime, scenarioOf, smallCluster } from '../../simulation/worlds.ts';
import { providerOf, specOf, standInAws } from './aws-bed.ts';

export interface VirtualBedOptions {
  /** The cluster file; its types say their resources. */
  readonly text: string;
  readonly settings?: SettingsPatch;
  readonly prepared?: (aws: Aws) => PreparedAws;
  readonly work?: readonly WorkFile[];
}

/**
 * The loop and the provider in virtual time, on stand-in instances behind AWS's own protocol. Work and nodes are simulated:
 * a machine that runs is a node a few seconds later, and none any more when it ends.
 */
export async function virtualBed(t: TestContext, { text, settings, prepared, work = [] }: VirtualBedOptions) {
  const spec = specOf(text);
  const scenario = { ...scenarioOf({ ...smallCluster, work }), spec };
  const world = new World({ scenario, seed: 1, rates: faultProfiles.none, faultsUntil: 0, watchers: [] });
  const { time, clock, engine } = world;
  const aws = await standInAws(t, { clock, ...(settings && { settings }) });
  holdCalls(t, time, aws.cloud);
  aws.cloud.ended.add(({ id }) => engine.lose(id));
  const provider: AwsProvider = providerOf(aws, { text, clock, ...(prepared && { prepared }) });
  const starter: NodeStarter = {
    bringUp: async ({ id, type, kind }, signal) => {
      await time.sleep(5_000, signal);
      engine.join({ id, type, kind, before: [] });
      // As a head does it: work does not wait for it.
      void provider.tag(id, { [rayTags.status]: 'up-to-date' }, signal).catch(() => {});
    },
    halt: async () => {},
  };
  const complete = await inTime(world, provider.learn(AbortSignal.timeout(60_000)));
  const loop = loopIn(world, { provider, starter, spec: () => complete(spec) });
  t.after(() => loop.stop());
  const existing = () => aws.cloud.truth().filter(({ exists }) => exists);
  return { aws, world, provider, loop, existing, within: <T>(promise: Promise<T>) => inTime(world, promise) };
}

/**
 * Calls go over a real socket, and machines are made beside them: neither takes any time, so that the fake alone says how
 * long something takes.
 */
function holdCalls(t: TestContext, time: VirtualTime, cloud: Cloud): void {
  const isMade = ({ now, machine }: CloudInstance): boolean => now.state !== 'pending' || machine !== undefined;
  const settled = async (answer: Promise<unknown>): Promise<unknown> => {
    try {
      return await answer;
    } finally {
      while (!cloud.existing().every(isMade)) await nextTurn();
    }
  };
  for (const { prototype } of [EC2Client, PricingClient] as readonly { prototype: Sender }[]) {
    const sender = { send: prototype.send };
    t.mock.method(prototype, 'send', function (this: Sender, ...call: readonly unknown[]) {
      return time.hold(settled(sender.send.call(this, ...call)));
    });
  }
}

interface Sender {
  readonly send: (this: Sender, ...call: readonly unknown[]) => Promise<unknown>;
}
