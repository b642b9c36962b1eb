import type { DemandAnswer } from '../../api/types.ts';
import { counted, resourcesText } from './amounts.ts';

type Demand = DemandAnswer['demand'];
type Request = Demand['tasks'][number]['request'];
type Waiting = DemandAnswer['waiting'][number];
type Infeasible = DemandAnswer['infeasible'][number];

/** What one thing to place asks for, labels included. */
export function requestText(request: Request): string {
  const labels = request.selectors.map((selector) =>
    selector
      .map((rule) => `${rule.label} ${rule.operator === 'in' ? 'in' : 'not in'} ${rule.values.join('|')}`)
      .join(', '),
  );
  const where = labels.length === 0 ? '' : ` where ${labels.join(' or ')}`;
  return `${resourcesText(request.resources)}${where}`;
}

/** Things that wait to be placed; a gang counts each of its parts. */
export function pendingCount(demand: Demand): number {
  const tasks = demand.tasks.reduce((sum, task) => sum + task.count, 0);
  return demand.gangs.reduce((sum, gang) => sum + gang.requests.length, tasks);
}

export function waitingTitle(waiting: Pick<Waiting, 'demand'>): string {
  const { demand } = waiting;
  switch (demand.kind) {
    case 'tasks':
      return `${demand.count} × ${requestText(demand.request)}`;
    case 'gang':
      return `Gang ${demand.gang}`;
    case 'standing':
      return 'Standing request';
    case 'min-workers':
      return `${demand.count} × ${demand.type} (min_workers)`;
  }
}

export function infeasibleTitle(infeasible: Infeasible): string {
  switch (infeasible.kind) {
    case 'tasks':
      return `${infeasible.count} × ${requestText(infeasible.request)}`;
    case 'gang':
      return `Gang ${infeasible.gang.id} of ${counted(infeasible.gang.requests.length, 'part')}`;
    case 'standing':
      return `Standing request of ${counted(infeasible.standing.requests.length, 'shape')}`;
  }
}
