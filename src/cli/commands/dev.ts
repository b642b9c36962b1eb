import { rayVersion, releaseOf } from '../../core/ray-version.ts';
import { type Command, defineCommand, type Option } from '../command.ts';

export const devPlanOptions = [
  {
    name: 'as-ray',
    summary: `decide exactly as Ray ${releaseOf(rayVersion)} does, ties included, without Manta's improvements`,
  },
] as const satisfies readonly Option[];

/** For those who work on Manta or want to check it against Ray. */
export const devCommands: readonly Command[] = [
  defineCommand({
    path: ['dev', 'plan'],
    summary: "plan scheduling requests in the form of Ray's own planner",
    description:
      "Reads one request a line from standard input: the fields of Ray's SchedulingRequest as JSON (a recorded case,\n" +
      'which holds it under "in", will do), and prints one line each with the fields of its SchedulingReply.\n' +
      'What Manta would launch or end next is under to_launch and to_terminate; what it cannot place now is infeasible.\n' +
      'A line that is no request gives {"error": {"line", "column", "path", "message"}}, and the others go on.\n' +
      'Exit code: 0 all lines planned, 1 some line was no request.',
    args: [],
    options: devPlanOptions,
    hidden: true,
    examples: ['manta dev plan < requests.jsonl', 'manta dev plan --as-ray < requests.jsonl'],
    load: () => import('./dev-plan.ts'),
  }),
];
