import { layersRule } from './layers.ts';
import { lengthsRule } from './lengths.ts';
import { namesRule } from './names.ts';
import { printingRule } from './printing.ts';
import { proseRule } from './prose.ts';
import { purityRule } from './purity.ts';
import { tablesRule } from './tables.ts';
import { uniqueTypesRule } from './unique-types.ts';

/** The rules of this repository, for oxlint. */
export default {
  meta: { name: 'manta' },
  rules: {
    layers: layersRule,
    lengths: lengthsRule,
    names: namesRule,
    purity: purityRule,
    printing: printingRule,
    prose: proseRule,
    tables: tablesRule,
    'unique-types': uniqueTypesRule,
  },
};
