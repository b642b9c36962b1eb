import { ownValue } from '../../../base/own-value.ts';
import type { PlainMap } from '../cluster.ts';
import { isMap } from '../source.ts';
import type { Draft, LegacyDraft } from './draft.ts';
import { legacyWorkerType, numberOr } from './node-types.ts';

/** `min_workers` and `initial_workers` of the whole file become those of its default worker type. */
export function placeWorkerCounts(file: LegacyDraft): void {
  const { min_workers: min, initial_workers: initial, worker_default_node_type: named } = file.value;
  const target = typeof named === 'string' ? named : legacyWorkerType;
  for (const key of ['min_workers', 'initial_workers', 'worker_default_node_type'] as const) delete file.value[key];
  const types = isMap(file.value.available_node_types) ? file.value.available_node_types : undefined;
  const type = types && ownValue(types, target);
  if (named !== undefined && 'worker_default_node_type' in (file.source.value as PlainMap)) {
    if (types && isMap(type)) file.legacy(['worker_default_node_type'], 'min_workers of the node type');
    else file.ignored(['worker_default_node_type'], `the file has no node type '${target}'`);
  }
  const minKey = 'min_worker_nodes' in (file.source.value as PlainMap) ? 'min_worker_nodes' : 'min_workers';
  if (!types || !isMap(type)) {
    if (min !== undefined) file.ignored([minKey], 'min_workers is now set per node type');
    if (initial !== undefined) file.ignored(['initial_workers'], 'the file does not say which node type it means');
    return;
  }
  const draft: Draft = { ...type };
  if (typeof min === 'number') {
    if (minKey === 'min_workers') file.legacy(['min_workers'], `'min_workers' of the node type`);
    const others = Object.entries(types).reduce(
      (sum, [name, each]) => sum + (name !== target && isMap(each) ? numberOr(each.min_workers, 0) : 0),
      0,
    );
    draft.min_workers = Math.max(
      numberOr(type.min_workers, 0),
      Math.min(min, numberOr(file.value.max_workers ?? file.defaults.max_workers, min)) - others,
    );
  }
  file.value.available_node_types = { ...types, [target]: draft };
  if (typeof initial === 'number') {
    const most = Math.min(
      numberOr(draft.max_workers, initial),
      numberOr(file.value.max_workers ?? file.defaults.max_workers, initial),
    );
    const start = Math.min(initial, most);
    if (start <= numberOr(draft.min_workers, 0)) file.ignored(['initial_workers'], 'min_workers is at least as large');
    else {
      file.legacy(['initial_workers'], `provider.manta.node_types.${target}.initial_workers`);
      setInitialWorkers(file, target, start);
    }
  }
}

function setInitialWorkers(file: LegacyDraft, type: string, count: number): void {
  const provider = file.value.provider;
  if (!isMap(provider)) return;
  const manta = isMap(provider.manta) ? provider.manta : {};
  const types = isMap(manta.node_types) ? manta.node_types : {};
  const given = ownValue(types, type);
  const own = isMap(given) ? given : {};
  file.value.provider = {
    ...provider,
    manta: { ...manta, node_types: { ...types, [type]: { initial_workers: count, ...own } } },
  };
}
