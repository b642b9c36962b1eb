import { type Command, defineCommand, type Option } from '../../command.ts';
import { connectionOptions, noConfigCache, onlyCluster } from '../../shared/cluster-options.ts';

export const dashboardOptions = [
  {
    name: 'port',
    short: 'p',
    value: 'PORT',
    type: 'integer',
    min: 1,
    max: 65_535,
    summary: 'local port of the tunnel',
    default: 8265,
  },
  {
    name: 'remote-port',
    value: 'PORT',
    type: 'integer',
    min: 1,
    max: 65_535,
    summary: 'port on the head that the tunnel connects to',
    default: 8265,
  },
  {
    name: 'port-forward',
    value: 'PORT',
    type: 'integer',
    min: 1,
    max: 65_535,
    many: true,
    summary: 'for kube:NAME: forward this local port to the head pod too',
  },
  { name: 'no-open', summary: 'print the link without opening a browser' },
  noConfigCache,
  ...connectionOptions,
] as const satisfies readonly Option[];

/** The command that opens the page. */
export const dashboardCommands: readonly Command[] = [
  defineCommand({
    path: ['dashboard'],
    inRay: true,
    summary: 'open the web page of a cluster, or of all clusters',
    description:
      'Prints and opens a link that signs a browser in; it works once, within a minute. For a cluster on other machines it keeps\n' +
      'a tunnel open until Ctrl-C and reconnects when the connection drops. Meanwhile http://127.0.0.1:PORT is the address for\n' +
      '`ray job submit --address`. If you have several clusters and name none, it serves one page that lists them all\n' +
      'and opens each at its own address, http://CLUSTER.localhost:PORT.\n' +
      'For kube:NAME it forwards to the head pod, and finds the new one when the pod moves. With --port-forward 8000 it also\n' +
      "prints the addresses of Serve's applications and of their /docs.",
    args: [onlyCluster],
    options: dashboardOptions,
    untilInterrupted: true,
    examples: [
      'manta dashboard',
      'manta dashboard kube:aana --port-forward 8000',
      'manta dashboard cluster.yaml -p 9000',
      'manta dashboard --no-open',
    ],
    load: () => import('./dashboard.ts'),
  }),
];
