import { openLabAws } from '../../lab/aws/open.ts';
import { type BenchedCloud, isWorker, latency } from './cloud.ts';

const firstAccount = 200_000_000_000;

export const aws: BenchedCloud = {
  name: 'aws',
  goals: { firstUp: 2, requested: 10, calls: 3, down: 2 },
  packages: { boto3: true },
  provider: () =>
    '{type: aws, region: us-west-2, availability_zone: "us-west-2a,us-west-2b", cache_stopped_nodes: false}',
  nodeConfig: '{InstanceType: m5.large}',
  aboutInstances:
    /^(RunInstances|TerminateInstances|CreateTags|Describe(Instances|InstanceStatus|Tags|SpotInstanceRequests))$/,
  async open(lab) {
    const opened = await openLabAws(lab, {
      image: { ray: true, boto3: true, cron: true },
      standIn: isWorker,
    });
    await opened.admin.set({ latency_ms: latency });
    let accounts = 0;
    return {
      cloud: opened.cloud,
      emptyAccount: () => {
        const id = String(firstAccount + ++accounts);
        return Promise.resolve({ id, environment: opened.environment(opened.addUser('bench', undefined, id)) });
      },
      calls: () => opened.admin.calls(),
      host: (id) => opened.host(id),
      close: () => opened.close(),
    };
  },
};
