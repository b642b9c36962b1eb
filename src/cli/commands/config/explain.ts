import { specErrors } from '../../../core/spec/errors.ts';
import { explainKey, listKeys, nearestKey } from '../../../core/spec/keys/explain.ts';
import { keyReference } from '../../../core/spec/keys/reference.ts';
import { providers } from '../../../providers/table.ts';
import type { Run } from '../../command.ts';
import type { configExplainOptions } from './declaration.ts';

export const run: Run<typeof configExplainOptions> = async ({ args, options }, io) => {
  const { keys } = providers;
  if (options.markdown) {
    const markdown = keyReference(keys);
    io.out(io.json ? `${JSON.stringify({ markdown })}\n` : markdown);
    return 0;
  }
  const [asked] = args;
  const found = asked === undefined ? listKeys(keys) : explainKey(keys, asked);
  if (asked !== undefined && found.keys.length === 0)
    throw specErrors.NoSuchKey({ key: asked, nearest: nearestKey(keys, asked) });
  io.out(io.json ? found.keys.map((key) => `${JSON.stringify(key)}\n`).join('') : found.text);
  return 0;
};
