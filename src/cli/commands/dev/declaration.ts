import { rayVersion, releaseOf } from '../../../core/ray-version.ts';
import { type Command, defineCommand, type Option } from '../../command.ts';

export const devPlanOptions = [
  {
    name: 'as-ray',
    summary: `decide exactly as Ray ${releaseOf(rayVersion)} does, including ties`,
  },
] as const satisfies readonly Option[];

/** For those who work on Manta or want to check it against Ray. */
export const devCommands: readonly Command[] = [
  defineCommand({
    path: ['dev', 'plan'],
    summary: "plan scheduling requests in the form of Ray's own planner",
    description:
      "Reads one request per line from standard input: the fields of Ray's SchedulingRequest as JSON (or a recorded case,\n" +
      'which has it under "in"), and prints one line for each with the fields of its SchedulingReply.\n' +
      'to_launch and to_terminate list what Manta would launch or terminate next; infeasible lists what it cannot place now.\n' +
      'A line that is not a request gives {"error": {"line", "column", "path", "message"}}; the other lines are still planned.\n' +
      'Exit code: 0 all lines planned, 1 at least one line was not a request.',
    args: [],
    options: devPlanOptions,
    hidden: true,
    examples: ['manta dev plan < requests.jsonl', 'manta dev plan --as-ray < requests.jsonl'],
    load: () => import('./plan.ts'),
  }),
];
