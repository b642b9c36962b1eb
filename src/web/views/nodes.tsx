import { useMemo } from 'preact/hooks';
import type { NodeAnswer } from '../../api/types.ts';
import { type Column, DataGrid } from '../parts/data-grid.tsx';
import { FilterChips, SearchField } from '../parts/filters.tsx';
import { StateMark } from '../parts/icon.tsx';
import { MiniMeter } from '../parts/meter.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { Ago } from '../parts/time.tsx';
import { cluster, nodes } from '../state/cluster.ts';
import { filterNodes, fullest, groupCounts } from '../state/node-query.ts';
import { goTo, linkTo, route } from '../state/route.ts';
import { counted, countText, shareText } from '../words/amounts.ts';
import { instanceLooks, type NodeGroup, nodeGroups } from '../words/states.ts';
import { durationText } from '../words/time.ts';
import { NodeDetail } from './node.tsx';

const columns: readonly Column<NodeAnswer>[] = [
  { name: 'state', label: 'State', cell: (node) => <StateMark look={instanceLooks[node.status]} /> },
  {
    name: 'id',
    label: 'Node',
    cell: (node) => <ToNode instance={node.instance} />,
  },
  {
    name: 'type',
    label: 'Type',
    cell: (node) => (
      <>
        {node.type}
        {node.kind === 'head' && <span class="tag">head</span>}
        {(node.market === 'spot' || node.market === 'reserved') && <span class="tag">{node.market}</span>}
      </>
    ),
  },
  { name: 'use', label: 'In use', cell: (node) => <Use node={node} /> },
  { name: 'jobs', label: 'Jobs', right: true, cell: (node) => countText(node.jobs.length) },
  {
    name: 'idle',
    label: 'Idle for',
    right: true,
    cell: (node) => (node.idleFor === undefined || node.idleFor === 0 ? '–' : durationText(node.idleFor)),
  },
  {
    name: 'age',
    label: 'Requested',
    right: true,
    cell: (node) => (node.byHand ? 'by hand' : <Ago at={node.requestedAt} />),
  },
  {
    name: 'why',
    label: 'Why',
    cell: (node) => {
      const why = node.endsBecause ?? node.launchedBecause ?? '';
      return <span title={why}>{why}</span>;
    },
  },
];

function ToNode({ instance }: { instance: string }) {
  return (
    <a href={linkTo(['nodes', instance], Object.fromEntries(route.value.params))} class="mono" tabIndex={-1}>
      {instance}
    </a>
  );
}

function Use({ node }: { node: NodeAnswer }) {
  const most = fullest(node);
  if (most === undefined) return <span class="quiet">–</span>;
  return <MiniMeter share={most.share} label={`${most.name}: ${shareText(most.name, most.used, most.total)}`} />;
}

export function NodesView({ chosen }: { chosen: string | undefined }) {
  const { params } = route.value;
  const search = params.get('search') ?? '';
  const type = params.get('type') ?? '';
  const groupText = params.get('state') ?? '';
  const groups = useMemo(
    () => groupText.split(',').filter((name): name is NodeGroup => Object.hasOwn(nodeGroups, name)),
    [groupText],
  );
  const all = nodes.value;
  const shown = useMemo(() => filterNodes(all ?? [], { groups, type, search }), [all, groups, type, search]);
  const counts = useMemo(() => groupCounts(all ?? []), [all]);
  const types = cluster.value?.nodeTypes.map((each) => each.name) ?? [];
  const show = (next: Readonly<Record<string, string>>): void => goTo(withFilters(route.peek().path[1], next), true);

  return (
    <>
      <header class="view-head">
        <h1 tabIndex={-1}>Nodes</h1>
        <p class="view-count" role={shown.length === all?.length ? undefined : 'status'}>
          {all === undefined
            ? ''
            : shown.length === all.length
              ? counted(all.length, 'node')
              : `${countText(shown.length)} of ${counted(all.length, 'node')}`}
        </p>
      </header>
      <div class="toolbar">
        <SearchField label="Search node, type or zone" value={search} onSearch={(text) => show({ search: text })} />
        <select aria-label="Node type" value={type} onChange={(change) => show({ type: change.currentTarget.value })}>
          <option value="">All types</option>
          {types.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <FilterChips
          label="States shown"
          choices={Object.entries(nodeGroups).map(([name, label]) => ({
            name,
            label,
            count: counts[name as NodeGroup],
          }))}
          chosen={groups}
          onChange={(next) => show({ state: next.join(',') })}
        />
      </div>
      {all === undefined ? (
        <Loading lines={12} />
      ) : (
        <div class={chosen === undefined ? 'split' : 'split is-split'}>
          <DataGrid
            label="Nodes"
            kind="nodes"
            columns={columns}
            items={shown}
            count={shown.length}
            keyOf={keyOf}
            onOpen={(node) => goTo(withFilters(node.instance))}
            chosen={chosen}
            empty={<NothingShown none={all.length === 0} onShowAll={() => show({ search: '', type: '', state: '' })} />}
          />
          {chosen !== undefined && (
            <NodeDetail key={chosen} instance={chosen} onClose={() => goTo(withFilters(undefined))} />
          )}
        </div>
      )}
    </>
  );
}

function NothingShown({ none, onShowAll }: { none: boolean; onShowAll: () => void }) {
  if (none) return <Empty title="No nodes">The first one is launched when there is work for it.</Empty>;
  return (
    <Empty title="No matching nodes">
      <button type="button" class="link-button" onClick={onShowAll}>
        Show all nodes
      </button>
    </Empty>
  );
}

/** The list, with a node beside it or none, filtered as it is now except for `changes`. */
function withFilters(instance: string | undefined, changes: Readonly<Record<string, string>> = {}): string {
  const filters = { ...Object.fromEntries(route.peek().params), ...changes };
  return linkTo(instance === undefined ? ['nodes'] : ['nodes', instance], filters);
}

const keyOf = (node: NodeAnswer): string => node.instance;
