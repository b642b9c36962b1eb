import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ClusterAnswer, TurnOffAnswer } from '../../api/types.ts';
import { ownValue } from '../../base/own-value.ts';
import { markLook } from '../parts/chart/chart-data.ts';
import { NodeChart } from '../parts/chart/node-chart.tsx';
import { StateMark } from '../parts/icon.tsx';
import { Meter } from '../parts/meter.tsx';
import { Empty, Loading } from '../parts/notice.tsx';
import { Ago } from '../parts/time.tsx';
import { TypeTable } from '../parts/type-table.tsx';
import { now } from '../state/clock.ts';
import { cluster } from '../state/cluster.ts';
import { history, range, rangeLength, ranges } from '../state/history.ts';
import { linkTo } from '../state/route.ts';
import { counted, countText, moneyText, resourceNames } from '../words/amounts.ts';
import { jobLooks, type Look } from '../words/states.ts';
import { durationText, exactTime } from '../words/time.ts';
import { DemandCard, EventsCard, JobsCard } from './overview-cards.tsx';

export function OverviewView() {
  const shown = cluster.value;
  if (shown === undefined) return <Loading lines={8} />;
  return (
    <>
      <h1 class="hidden-text" tabIndex={-1}>
        Overview of {shown.name}
      </h1>
      <Tiles cluster={shown} />
      {shown.unknown?.map((line) => (
        <p key={line} class="turn-off is-soon" role="alert">
          <StateMark look={{ label: 'Not known', tone: 'warn', shape: 'alert' }} />
          <span>{line}.</span>
        </p>
      ))}
      {shown.turnOff !== undefined && <TurnOffLine turnOff={shown.turnOff} />}
      <div class="columns columns-wide">
        <NodesCard cluster={shown} />
        <UsageCard cluster={shown} />
      </div>
      <div class="columns columns-three">
        <DemandCard />
        <JobsCard />
        <EventsCard />
      </div>
    </>
  );
}

/** When the cluster shuts itself down. */
function TurnOffLine({ turnOff: { text, at, soon } }: { turnOff: TurnOffAnswer }) {
  return (
    <p class={soon ? 'turn-off is-soon' : 'turn-off'}>
      {soon && <StateMark look={{ label: 'Shutting down soon', tone: 'warn', shape: 'clock' }} />}
      <span title={at === undefined ? undefined : exactTime(at)}>This cluster {text}.</span>
      {at !== undefined && (
        <>
          {' '}
          <code>manta extend</code> keeps it longer.
        </>
      )}
    </p>
  );
}

function Tiles({ cluster: { nodes, jobs, cost, startedAt } }: { cluster: ClusterAnswer }) {
  const moving = [
    nodes.pending > 0 ? `${countText(nodes.pending)} pending` : undefined,
    nodes.draining > 0 ? `${countText(nodes.draining)} draining` : undefined,
    nodes.stopped ? `${countText(nodes.stopped)} stopped` : undefined,
  ].filter((part) => part !== undefined);
  return (
    <dl class="tiles">
      <Tile label="Nodes" value={countText(nodes.running)} link={linkTo(['nodes'])}>
        {moving.length === 0 && nodes.failed === 0 ? 'all running' : moving.join(', ')}
        {moving.length > 0 && nodes.failed > 0 && ', '}
        {nodes.failed > 0 && (
          <a class="tile-bad" href={linkTo(['nodes'], { state: 'failed' })}>
            {countText(nodes.failed)} failed
          </a>
        )}
      </Tile>
      <Tile
        label="Jobs running"
        look={jobLooks.running}
        value={countText(jobs.running)}
        link={linkTo(['jobs'], { state: 'running' })}
      >
        {jobs.starting + jobs.stopping > 0
          ? `${countText(jobs.starting + jobs.stopping)} starting or stopping`
          : 'none starting'}
      </Tile>
      <Tile
        label="Jobs waiting"
        look={jobLooks.queued}
        value={countText(jobs.queued)}
        link={linkTo(['jobs'], { state: 'queued' })}
      >
        {jobs.held > 0 ? `and ${countText(jobs.held)} held` : 'none held'}
      </Tile>
      <Tile
        label="Jobs failed"
        look={jobs.failed > 0 ? jobLooks.failed : { ...jobLooks.failed, tone: 'muted' }}
        value={countText(jobs.failed)}
        link={linkTo(['jobs'], { state: 'failed' })}
      >
        {countText(jobs.succeeded)} succeeded
      </Tile>
      {cost === undefined ? (
        <Tile label="Up for" value={durationText(now.value - startedAt)}>
          <span title={exactTime(startedAt)}>no prices known</span>
        </Tile>
      ) : (
        <Tile label="Cost" value={`${moneyText(cost.perHour, cost.currency)}/h`}>
          {moneyText(cost.spent, cost.currency)} in {durationText(now.value - startedAt)}
          {cost.unknown ? `, without ${countText(cost.unknown)} of unknown price` : ''}
        </Tile>
      )}
    </dl>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly link?: string;
  readonly look?: Look;
  readonly children: ComponentChildren;
}

function Tile({ label, value, link, look, children }: TileProps) {
  return (
    <div class="tile">
      <dt>{look === undefined ? label : <StateMark look={{ ...look, label }} />}</dt>
      <dd class="tile-value">{link === undefined ? value : <a href={link}>{value}</a>}</dd>
      <dd class="tile-note">{children}</dd>
    </div>
  );
}

function NodesCard({ cluster: { nodeTypes } }: { cluster: ClusterAnswer }) {
  const names = nodeTypes.map((type) => type.name).join('\n');
  const types = useMemo(() => names.split('\n'), [names]);
  const past = history.value;
  const changes = past?.marks.toReversed() ?? [];
  return (
    <section class="card" aria-labelledby="nodes-over-time">
      <header class="card-head">
        <h2 id="nodes-over-time">Nodes over time</h2>
        <div class="segments" role="group" aria-label="Time shown">
          {ranges.map((each) => (
            <button
              key={each.name}
              type="button"
              aria-pressed={range.value === each.name}
              onClick={() => {
                range.value = each.name;
              }}
            >
              {each.label}
            </button>
          ))}
        </div>
      </header>
      <div class="chart-space">
        {past === undefined ? (
          <Loading lines={6} />
        ) : past.samples.length === 0 ? (
          <Empty title="No history yet">The chart starts when the first node does.</Empty>
        ) : (
          <NodeChart history={past} types={types} span={rangeLength(range.value)} />
        )}
      </div>
      <details class="changes">
        <summary>{counted(changes.length, 'node change')}, with reasons</summary>
        <ol class="plain-list">
          {changes.slice(0, 100).map((mark, index) => (
            <li key={index}>
              <Ago at={mark.at} />
              <StateMark look={markLook(mark)} />
              <span class="change-why">{mark.because}</span>
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}

function UsageCard({ cluster: shown }: { cluster: ClusterAnswer }) {
  const { usage } = shown;
  const names = resourceNames(Object.fromEntries(Object.entries(usage).map(([name, { total }]) => [name, total])));
  const past = history.value?.samples ?? [];
  const every = Math.max(1, Math.floor(past.length / 60));
  return (
    <section class="card" aria-labelledby="usage">
      <header class="card-head">
        <h2 id="usage">Resources in use</h2>
      </header>
      {names.length === 0 ? (
        <Empty title="No resources yet">They appear with the first running node.</Empty>
      ) : (
        <div class="meters">
          {names.map((name) => (
            <Meter
              key={name}
              name={name}
              used={ownValue(usage, name)?.used ?? 0}
              total={ownValue(usage, name)?.total ?? 0}
              past={past.filter((_, index) => index % every === 0).map((sample) => share(ownValue(sample.usage, name)))}
            />
          ))}
        </div>
      )}
      <TypeTable cluster={shown} />
    </section>
  );
}

function share(amount: { readonly used: number; readonly total: number } | undefined): number {
  return amount === undefined || amount.total === 0 ? 0 : amount.used / amount.total;
}
