import {
  CancelSpotInstanceRequestsCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { messageOf } from '../../../base/errors.ts';
import { mapOf } from '../../../core/spec/plain.ts';
import { providerErrors } from '../../errors.ts';
import { onceKnown } from '../../young.ts';
import { batchesOf, inHalves } from '../client/batches.ts';
import type { AwsCalls } from '../client/calls.ts';
import { awsCode } from '../client/refusals.ts';
import { awsErrors } from '../errors.ts';
import { describeSpotRequests } from '../list/listing.ts';
import { ofCluster } from '../tags.ts';

const mostPerCall = 500;

export const isUnknown = (error: unknown): boolean => providerErrors.NotFound.is(error);

/** Ids as EC2 makes them; it refuses a whole call for another one. */
export const isInstanceId = (id: string): boolean => /^i-[0-9a-f]{8,17}$/.test(id);

/** Orders the end of instances. One that is gone or held back does not hold up the others. Throws `Protected` in the end. */
export async function terminateInstances(
  calls: AwsCalls,
  given: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { aws, clock, young } = calls;
  const held = new Map<string, string>();
  const end = (ids: readonly string[]): Promise<void> =>
    inHalves(
      ids,
      async (some) => {
        const command = new TerminateInstancesCommand({ InstanceIds: [...some] });
        const about = { call: 'TerminateInstances', id: some[0]! };
        await aws.ask(about, (options) => aws.ec2.send(command, options), signal);
        young.forget(some);
      },
      (error) => providerErrors.NotFound.is(error) || awsCode(error) === 'OperationNotPermitted',
      (id, error) => {
        // One that was just launched is not gone because EC2 does not know it everywhere.
        if (providerErrors.NotFound.is(error) && young.has(id)) throw error;
        if (!providerErrors.NotFound.is(error)) held.set(id, messageOf(error));
      },
    );
  for (const ids of batchesOf([...new Set(given)].filter(isInstanceId), mostPerCall))
    await onceKnown(() => end(ids), isUnknown, clock, signal);
  if (held.size > 0) throw awsErrors.Protected({ ids: [...held.keys()], detail: [...held.values()][0]! });
}

/** Ids that are gone are left out; one that cannot be stopped throws, after the others have been. */
export async function stopInstances(calls: AwsCalls, given: readonly string[], signal: AbortSignal): Promise<void> {
  const { aws } = calls;
  const failed: Error[] = [];
  for (const ids of batchesOf([...new Set(given)].filter(isInstanceId), mostPerCall))
    await inHalves(
      ids,
      async (some) => {
        const command = new StopInstancesCommand({ InstanceIds: [...some] });
        const about = { call: 'StopInstances', id: some[0]! };
        await aws.ask(about, (options) => aws.ec2.send(command, options), signal);
      },
      (error) => providerErrors.NotFound.is(error) || providerErrors.Denied.is(error),
      (_, error) => {
        if (error instanceof Error && !isUnknown(error)) failed.push(error);
      },
    );
  const [first] = failed;
  if (first !== undefined) throw first;
}

/** A persistent request would launch another instance for each that is ended. `ids`: of instances; absent: all of the cluster. */
export async function cancelSpotRequests(
  { aws, client }: AwsCalls,
  ids: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  const persistent = { Name: 'type', Values: ['persistent'] };
  const alive = { Name: 'state', Values: ['open', 'active'] };
  const found = await describeSpotRequests(aws, [ofCluster(client.clusterId), persistent, alive], signal);
  const doomed = found.flatMap(({ SpotInstanceRequestId: id, InstanceId: instance }) =>
    id !== undefined && (ids === undefined || ids.has(instance ?? '')) ? [id] : [],
  );
  for (const some of batchesOf(doomed, mostPerCall)) {
    const command = new CancelSpotInstanceRequestsCommand({ SpotInstanceRequestIds: [...some] });
    await aws.ask({ call: 'CancelSpotInstanceRequests' }, (options) => aws.ec2.send(command, options), signal);
  }
}

/** Whether launches may leave a persistent request: the file says so, or has a template that may. */
export const mayPersist = ({ client }: AwsCalls): boolean => {
  const { head, nodeTypes } = client.spec();
  return [head, ...nodeTypes].some(
    ({ launchConfig: { InstanceMarketOptions: options, LaunchTemplate: template } }) =>
      template !== undefined || mapOf(mapOf(options).SpotOptions).SpotInstanceType === 'persistent',
  );
};
