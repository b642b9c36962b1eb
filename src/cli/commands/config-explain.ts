import { specErrors } from '../../core/spec/errors.ts';
import { explainKey, listKeys, nearestKey } from '../../core/spec/keys/explain.ts';
import { keyReference } from '../../core/spec/keys/reference.ts';
import type { Run } from '../command.ts';
import type { configExplainOptions } from './config.ts';

export const run: Run<typeof configExplainOptions> = async ({ args, options }, io) => {
  if (options.markdown) {
    io.out(io.json ? `${JSON.stringify({ markdown: keyReference() })}\n` : keyReference());
    return 0;
  }
  const [asked] = args;
  const found = asked === undefined ? listKeys() : explainKey(asked);
  if (asked !== undefined && found.keys.length === 0)
    throw specErrors.NoSuchKey({ key: asked, nearest: nearestKey(asked) });
  io.out(io.json ? found.keys.map((key) => `${JSON.stringify(key)}\n`).join('') : found.text);
  return 0;
};
