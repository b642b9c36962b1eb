import { openLabGoogle } from '../../lab/google/open.ts';
import { type BenchedCloud, isWorker, latency } from './cloud.ts';

const image = 'projects/deeplearning-platform-release/global/images/family/common-cpu';

export const google: BenchedCloud = {
  name: 'google',
  goals: { firstUp: 1.5, requested: 10, calls: 10, down: 10 },
  packages: { googleClient: true },
  provider: (project) =>
    `{type: gcp, region: us-west1, availability_zone: us-west1-a, project_id: ${project}, cache_stopped_nodes: false}`,
  nodeConfig: `{machineType: n1-standard-2, disks: [{boot: true, autoDelete: true, type: PERSISTENT, initializeParams: {diskSizeGb: 50, sourceImage: ${image}}}]}`,
  // Operations are looked at for the sake of instances.
  aboutInstances: /^(instances|zoneOperations|globalOperations)\./,
  async open(lab) {
    const opened = await openLabGoogle(lab, {
      image: { ray: true, googleClient: true, cron: true },
      standIn: isWorker,
    });
    await opened.admin.set({ latency_ms: latency });
    let projects = 0;
    return {
      cloud: opened.cloud,
      emptyAccount: async () => {
        const id = `bench-project-${++projects}`;
        const { world } = opened;
        const project = world.addProject(id);
        const { email, number } = world.addAccount(project, `bench@${id}.iam.gserviceaccount.com`, 'bench', [
          'roles/owner',
        ]);
        const environment = await opened.equip(lab.laptop, world.tokens.addKey(id, email, number));
        return { id, environment: { ...environment, GOOGLE_CLOUD_PROJECT: id } };
      },
      calls: () => opened.admin.calls(),
      host: (id) => {
        const name = opened.cloud.instance(id)?.name;
        return name === undefined ? undefined : opened.host(name);
      },
      close: () => opened.close(),
    };
  },
};
