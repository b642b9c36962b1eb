import type { WhyAnswer } from '../../../api/types.ts';
import type { MantaError } from '../../../base/errors.ts';
import type { HttpClient } from '../../../client/http.ts';
import type { Io, Run } from '../../command.ts';
import { printable } from '../../render/renderer.ts';
import { styleFor } from '../../render/style.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';
import { isKubeName } from '../../shared/find-cluster.ts';
import { localTime } from '../../shared/times.ts';

export type Kind = 'job' | 'node' | 'demand';

export const run: Run<typeof connectionOptions> = async (invocation, io) => {
  const subject = invocation.args[0]!;
  if (isKubeName(subject)) {
    const { whyOnKube } = await import('./kube.ts');
    return await whyOnKube({ word: subject, options: invocation.options }, io);
  }
  return await withHead(invocation, io, async (http) => {
    return await explain(http, subject === 'demand' ? ['demand'] : ['job', 'node'], subject, io);
  });
};

/** Prints the causal chain of the first kind that knows the id. */
export async function explain(http: HttpClient, kinds: readonly Kind[], id: string, io: Io): Promise<number> {
  let unknown: unknown;
  for (const kind of kinds) {
    try {
      const answer = await http.json<WhyAnswer>('GET', `/api/manta/v1/why/${kind}/${encodeURIComponent(id)}`);
      io.out(io.json ? `${JSON.stringify(answer)}\n` : whyText(answer, io));
      return 0;
    } catch (error) {
      if ((error as MantaError<{ status?: number }>).data?.status !== 404) throw error;
      unknown ??= error;
    }
  }
  throw unknown;
}

function whyText({ subject, state, chain, next }: WhyAnswer, io: Io): string {
  const style = styleFor(io.color);
  const firstLine = printable(state).split('\n')[0] ?? '';
  return [
    `${style.bold(subject)}: ${firstLine}`,
    ...chain.map(({ at, text }) => `  ${style.dim(localTime(at))}  ${printable(text)}`),
    ...(next.length === 0 ? [] : ['what you can do:', ...next.map((step) => `  ${printable(step)}`)]),
    '',
  ].join('\n');
}
