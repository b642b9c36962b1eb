import { layersRule } from './layers.ts';
import { namesRule } from './names.ts';
import { printingRule } from './printing.ts';
import { proseRule } from './prose.ts';
import { purityRule } from './purity.ts';
import { tablesRule } from './tables.ts';

/** The rules of this repository, for oxlint. */
export default {
  meta: { name: 'manta' },
  rules: {
    layers: layersRule,
    names: namesRule,
    purity: purityRule,
    printing: printingRule,
    prose: proseRule,
    tables: tablesRule,
  },
};
