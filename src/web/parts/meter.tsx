import { percentText, shareText } from '../words/amounts.ts';

interface MeterProps {
  readonly name: string;
  readonly used: number;
  readonly total: number;
  /** Shares of the past, oldest first, drawn as a small line. */
  readonly past?: readonly number[];
}

/** How much of a resource is used, in words and as a bar. */
export function Meter({ name, used, total, past }: MeterProps) {
  const share = total > 0 ? Math.min(1, used / total) : 0;
  return (
    <div class="meter">
      <div class="meter-head">
        <span class="meter-name">{name}</span>
        <span class="meter-text">
          {shareText(name, used, total)} <span class="meter-share">{percentText(share)}</span>
        </span>
      </div>
      <div class="meter-body">
        <div
          class="meter-bar"
          role="meter"
          aria-label={`${name} in use`}
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={used}
          aria-valuetext={`${shareText(name, used, total)}, ${percentText(share)}`}
        >
          <div class="meter-fill" style={{ width: `${share * 100}%` }} />
        </div>
        {past !== undefined && <Sparkline values={past} />}
      </div>
    </div>
  );
}

function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return <svg class="spark" aria-hidden="true" />;
  const step = 100 / (values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(19 - 18 * Math.min(1, value)).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
      <polygon class="spark-fill" points={`0,20 ${points.join(' ')} 100,20`} />
      <polyline class="spark-line" points={points.join(' ')} />
    </svg>
  );
}

/** The resource that is used most on a node, as a bar for a row of a list. */
export function MiniMeter({ share, label }: { share: number; label: string }) {
  return (
    <span class="mini-meter" title={label}>
      <span class="mini-bar" aria-hidden="true">
        <span class="mini-fill" style={{ width: `${Math.round(share * 100)}%` }} />
      </span>
      <span class="mini-text">{percentText(share)}</span>
    </span>
  );
}
