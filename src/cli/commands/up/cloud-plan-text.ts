import type { Offer } from '../../../core/scaling.ts';
import type { RunningJobs } from '../../../launcher/reach/current-cluster.ts';
import type { CloudPlan } from '../../../launcher/up/cloud-plan.ts';

/** What is going to be asked of a cloud in words, for someone who decides whether to continue. */
export function cloudPlanText(plan: CloudPlan, jobs?: RunningJobs): string {
  const { cluster, provider, known, wanted } = plan;
  const workers = `${wanted} ${wanted === 1 ? 'worker' : 'workers'} to start with`;
  const lines = [
    `${known ? 'Cluster' : 'New cluster'} '${cluster}' on ${provider}: ${headWords(plan)}, and ${workers}.`,
    `  head     ${offersWords(plan.head)}`,
    ...plan.workers.map(
      (each) =>
        `  workers  ${typeWords(each.type, each.machine)}: ${countWords(each)}, ${offerWords(each.offer)}, ${priceWords(each.offer)} each`,
    ),
    `  cost     ${costWords(plan)}`,
    ...cloudLines(plan),
  ];
  if (plan.head.action === 'replace')
    lines.push(
      '  warning  the queue, all jobs and their output are lost with the old head; workers join the new one again, or are replaced',
    );
  if (jobs !== undefined && jobs.total > 0)
    lines.push(
      `  jobs     ${jobs.total} running, which end with the old head: ${jobs.names.join(', ')}${jobs.total > jobs.names.length ? ', …' : ''}`,
    );
  return `${lines.join('\n')}\n`;
}

/** What is found, made and changed in the cloud, and what is said of it. */
export const cloudLines = ({ steps, warnings }: CloudPlan): readonly string[] => [
  ...steps.map(
    ({ what, action, id, note }) =>
      `  ${action.padEnd(8)} ${what}${id === undefined ? '' : ` ${id}`}${note === undefined ? '' : `: ${note}`}`,
  ),
  ...warnings.map((message) => `  warning  ${message}`),
];

function headWords({ head }: CloudPlan): string {
  switch (head.action) {
    case 'launch':
      return `an instance of ${head.type} for the head`;
    case 'replace':
      return `the head is replaced (${head.instance} is terminated, and an instance of ${head.type} launched)`;
    case 'keep':
      return head.state === 'running' ? `the head is ${head.instance}` : 'the head is being launched';
  }
}

function offersWords({ type, machine, offers }: CloudPlan['head']): string {
  const [first, ...others] = offers;
  const name = typeWords(type, machine);
  if (first === undefined) return name;
  const then = others.map((offer) => `, then ${offerWords(offer)}`).join('');
  return `${name}, ${offerWords(first)}${then}, ${priceWords(first)}`;
}

/** Slices are what the file counts, and what is paid for. */
function countWords({ min, max, hostsPerSlice: hosts = 1 }: CloudPlan['workers'][number]): string {
  const [least, most] = [Math.floor(min / hosts), Math.floor(max / hosts)];
  const range = least === most ? `${most}` : `${least} to ${most}`;
  return hosts === 1 ? range : `${range} slices of ${hosts} hosts`;
}

const typeWords = (type: string, machine: string | undefined): string =>
  machine === undefined ? type : `${type} (${machine})`;

const offerWords = ({ zone, market }: Offer): string => (zone === undefined ? market : `${market} in ${zone}`);

const priceWords = ({ pricePerHour: price }: Offer): string =>
  price === undefined ? 'price unknown' : `${dollars(price)} an hour`;

function costWords({ pricePerHour, workers, head }: CloudPlan): string {
  if (pricePerHour !== undefined) return `${dollars(pricePerHour)} an hour to start with, without disks and traffic`;
  const unknown = workers.filter(({ min, offer }) => min > 0 && offer.pricePerHour === undefined);
  const types = [
    ...(head.offers[0]?.pricePerHour === undefined ? [head.type] : []),
    ...unknown.map(({ type }) => type),
  ];
  return `unknown: no price of ${[...new Set(types)].join(', ')} is known`;
}

/** Cents, and a tenth of one where that is not nothing. */
const dollars = (price: number): string => `$${price.toFixed(3).replace(/0$/, '')}`;
