// needs: cluster

import { describe, it } from 'node:test';
import { chosen } from './scaling/chosen.ts';
import { playEmbedded } from './scaling/embedded.ts';

describe('one machine without Ray', () => {
  for (const scenario of chosen('embedded')) it(scenario.name, (t) => playEmbedded(scenario, t));
});
