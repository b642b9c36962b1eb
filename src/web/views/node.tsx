import { useEffect, useRef } from 'preact/hooks';
import type { NodeAnswer } from '../../api/types.ts';
import { Icon, StateMark } from '../parts/icon.tsx';
import { Meter } from '../parts/meter.tsx';
import { Empty } from '../parts/notice.tsx';
import { Ago } from '../parts/time.tsx';
import { Why } from '../parts/why.tsx';
import { cluster, nodesByInstance } from '../state/cluster.ts';
import { nodeUsage } from '../state/node-query.ts';
import { jobLink } from '../state/route.ts';
import { moneyText } from '../words/amounts.ts';
import { instanceLooks } from '../words/states.ts';
import { durationText } from '../words/time.ts';

/** Beside the list: what a node is, what it does, and why it is there. */
export function NodeDetail({ instance, onClose }: { instance: string; onClose: () => void }) {
  const node = nodesByInstance.value.get(instance);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <aside
      class="detail stack"
      aria-label={`Node ${instance}`}
      onKeyDown={(press) => {
        if (press.key === 'Escape') onClose();
      }}
    >
      <header class="detail-head">
        <h2 ref={heading} tabIndex={-1} class="mono">
          {instance}
        </h2>
        <button type="button" class="icon-button" aria-label="Close node" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {node === undefined ? (
        <Empty title="This node is gone">The provider no longer has it; see below why it was terminated.</Empty>
      ) : (
        <NodeCards node={node} />
      )}
      <Why kind="node" id={instance} stamp={node?.status ?? 'gone'} />
    </aside>
  );
}

function NodeCards({ node }: { node: NodeAnswer }) {
  return (
    <>
      <section class="card" aria-label="Facts">
        <Facts node={node} />
      </section>
      {node.node !== undefined && (
        <section class="card" aria-label="Resources">
          <div class="meters">
            {nodeUsage(node).map((usage) => (
              <Meter key={usage.name} name={usage.name} used={usage.used} total={usage.total} />
            ))}
          </div>
        </section>
      )}
      {node.jobs.length > 0 && (
        <section class="card" aria-labelledby="node-jobs">
          <header class="card-head">
            <h2 id="node-jobs">Jobs on this node</h2>
          </header>
          <ul class="plain-list node-jobs">
            {node.jobs.map((job) => (
              <li key={job}>
                <a href={jobLink(job)} class="mono">
                  {job}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Facts({ node }: { node: NodeAnswer }) {
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <StateMark look={instanceLooks[node.status]} /> {node.byHand !== true && <Ago at={node.since} />}
      </dd>
      <dt>Type</dt>
      <dd>{node.type}</dd>
      {node.node !== undefined && (
        <>
          <dt>Node id</dt>
          <dd class="mono wrap">{node.node}</dd>
        </>
      )}
      <dt>Requested</dt>
      <dd>{node.byHand ? 'by hand' : <Ago at={node.requestedAt} />}</dd>
      {node.idleFor !== undefined && node.idleFor > 0 && (
        <>
          <dt>Idle for</dt>
          <dd>{durationText(node.idleFor)}</dd>
        </>
      )}
      {node.zone !== undefined && (
        <>
          <dt>Zone</dt>
          <dd>{node.zone}</dd>
        </>
      )}
      {node.market !== undefined && (
        <>
          <dt>Market</dt>
          <dd>{node.market}</dd>
        </>
      )}
      {node.pricePerHour !== undefined && (
        <>
          <dt>Price</dt>
          <dd>{moneyText(node.pricePerHour, cluster.value?.cost?.currency)}/h</dd>
        </>
      )}
      {node.launchedBecause !== undefined && (
        <>
          <dt>Launched</dt>
          <dd class="wrap">{node.launchedBecause}</dd>
        </>
      )}
      {node.endsBecause !== undefined && (
        <>
          <dt>Ends</dt>
          <dd class="wrap">{node.endsBecause}</dd>
        </>
      )}
    </dl>
  );
}
