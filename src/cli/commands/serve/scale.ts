import { ServeOnHead } from '../../../client/serve.ts';
import type { Json } from '../../../core/kube/object.ts';
import { configIn } from '../../../core/serve/change.ts';
import { scaled } from '../../../core/serve/scale.ts';
import type { Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { yamlText } from '../../render/yaml-text.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { serveScaleOptions } from './declaration.ts';
import { deployAndWait } from './deploy.ts';
import { changeService } from './service.ts';

export const run: Run<typeof serveScaleOptions> = async (invocation, io) => {
  const [word = '', count = ''] = invocation.args;
  const meant = readDeployment(word, count);
  const config = (now: Json) => {
    const value = scaled(now, undefined, meant);
    return { value, text: `${yamlText(value, 0)}\n` };
  };
  const onService = await changeService(invocation, { ...invocation.options, plan: false, yes: true, config }, io);
  if (onService !== undefined) return onService;
  return await withHead(invocation, io, async (http) => {
    const serve = new ServeOnHead(http);
    const details = await serve.details();
    await deployAndWait(serve, scaled(configIn(details), details, meant), invocation.options, io);
    return 0;
  });
};

/** `APPLICATION/DEPLOYMENT` and a number; names of applications may have slashes. */
export function readDeployment(
  word: string,
  count: string,
): { application: string; deployment: string; replicas: number } {
  const at = word.lastIndexOf('/');
  if (at < 1 || at === word.length - 1)
    throw cliErrors.BadValue({
      command: 'serve scale',
      option: 'DEPLOYMENT',
      value: word,
      expected: 'APPLICATION/DEPLOYMENT',
    });
  if (!/^[1-9]\d{0,5}$/.test(count))
    throw cliErrors.BadValue({
      command: 'serve scale',
      option: 'REPLICAS',
      value: count,
      expected: 'a number from 1 on',
    });
  return { application: word.slice(0, at), deployment: word.slice(at + 1), replicas: Number(count) };
}
