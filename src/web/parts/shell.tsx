import { ownValue } from '../../base/own-value.ts';
import { now } from '../state/clock.ts';
import { cluster, connection, waitingCount } from '../state/cluster.ts';
import { retryConnection } from '../state/feed.ts';
import { type Theme, theme } from '../state/preferences.ts';
import { linkTo } from '../state/route.ts';
import { openSubmit } from '../state/submit.ts';
import { countText } from '../words/amounts.ts';
import { relativeTime } from '../words/time.ts';
import { BrandMark } from './brand.tsx';
import { Icon, type IconName } from './icon.tsx';
import { helpOpen } from './shortcuts.tsx';

export function ShellHeader() {
  return (
    <header class="header">
      <a class="brand" href={linkTo([])} aria-label="Manta, go to overview">
        <BrandMark />
        <span class="brand-name">Manta</span>
      </a>
      {cluster.value !== undefined && (
        <p class="header-cluster">
          <span class="header-name">{cluster.value.name}</span>
          <span class="tag">{cluster.value.engine}</span>
        </p>
      )}
      <Connection />
      <div class="header-tools">
        <button type="button" class="button button-main" aria-label="New job" onClick={() => openSubmit()}>
          <Icon name="plus" />
          <span>New job</span>
        </button>
        <ThemeButton />
        <button
          type="button"
          class="icon-button only-wide"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={() => {
            helpOpen.value = true;
          }}
        >
          <Icon name="keyboard" />
        </button>
        {cluster.value !== undefined && (
          <span class="header-user only-wide" title="Signed in as this user">
            {cluster.value.user}
          </span>
        )}
      </div>
    </header>
  );
}

/** Whether what is shown is current; never silent about it when it is not. */
function Connection() {
  const state = connection.value;
  const seen = cluster.value?.now;
  if (state.kind === 'open') {
    const synced = cluster.value?.synced !== false;
    const unknown = cluster.value?.unknown;
    return (
      <p class="connection is-live" role="status" title={unknown?.join('\n')}>
        <span class="pulse" aria-hidden="true" />
        {unknown !== undefined ? 'Partly live' : synced ? 'Live' : 'Live, catching up'}
      </p>
    );
  }
  if (state.kind === 'lost') {
    return (
      <p class="connection is-lost" role="status" title={state.reason}>
        <span class="spinner" aria-hidden="true" />
        <span>Reconnecting…</span>
        {seen !== undefined && <span class="connection-age">as of {relativeTime(seen, now.value)}</span>}
        <button type="button" class="link-button" onClick={retryConnection}>
          Retry now
        </button>
      </p>
    );
  }
  return (
    <p class="connection" role="status">
      <span class="spinner" aria-hidden="true" />
      {state.kind === 'paused' ? 'Paused' : 'Connecting…'}
    </p>
  );
}

const themes: Readonly<Record<Theme, { readonly next: Theme; readonly icon: IconName; readonly label: string }>> = {
  system: { next: 'light', icon: 'auto', label: 'system' },
  light: { next: 'dark', icon: 'sun', label: 'light' },
  dark: { next: 'system', icon: 'moon', label: 'dark' },
};

function ThemeButton() {
  const { next, icon, label } = themes[theme.value];
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${label}. Change to ${themes[next].label}`}
      title={`Theme: ${label}`}
      onClick={() => {
        theme.value = next;
      }}
    >
      <Icon name={icon} />
    </button>
  );
}

const views: readonly { readonly path: string; readonly label: string; readonly icon: IconName }[] = [
  { path: '', label: 'Overview', icon: 'overview' },
  { path: 'jobs', label: 'Jobs', icon: 'jobs' },
  { path: 'nodes', label: 'Nodes', icon: 'nodes' },
  { path: 'demand', label: 'Demand', icon: 'demand' },
  { path: 'events', label: 'Events', icon: 'events' },
];

export function ShellNav({ current }: { current: string }) {
  const counts: Readonly<Record<string, number | undefined>> = {
    jobs: cluster.value?.jobs.running,
    nodes: cluster.value?.nodes.running,
    demand: waitingCount.value,
  };
  return (
    <nav class="nav" aria-label="Views">
      {views.map(({ path, label, icon }) => {
        const count = ownValue(counts, path);
        return (
          <a
            key={path}
            class="nav-link"
            href={linkTo(path === '' ? [] : [path])}
            aria-current={current === path ? 'page' : undefined}
          >
            <Icon name={icon} />
            <span class="nav-label">{label}</span>
            {count !== undefined && count > 0 && (
              <span class="nav-count" aria-hidden="true">
                {countText(count)}
              </span>
            )}
          </a>
        );
      })}
      {cluster.value !== undefined && <p class="nav-foot">Manta {cluster.value.mantaVersion}</p>}
    </nav>
  );
}
