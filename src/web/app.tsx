import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ownValue } from '../base/own-value.ts';
import { Failure, Loading } from './parts/notice.tsx';
import { ShellHeader, ShellNav } from './parts/shell.tsx';
import { ShortcutHelp, useShortcuts } from './parts/shortcuts.tsx';
import { Toasts } from './parts/toasts.tsx';
import { cluster, loadFailure, session } from './state/cluster.ts';
import { startFeed } from './state/feed.ts';
import { linkTo, type Route, route } from './state/route.ts';
import { DemandView } from './views/demand.tsx';
import { EventsView } from './views/events.tsx';
import { JobView } from './views/job.tsx';
import { JobsView } from './views/jobs.tsx';
import { NodesView } from './views/nodes.tsx';
import { OverviewView } from './views/overview.tsx';
import { SignInView } from './views/sign-in.tsx';
import { SubmitDialog } from './views/submit.tsx';

export function App() {
  if (session.value === 'out') {
    return (
      <>
        <SignInView />
        <Toasts />
      </>
    );
  }
  return <SignedIn />;
}

function SignedIn() {
  useShortcuts();
  const main = useRef<HTMLElement>(null);
  const { path } = route.value;
  const place = path.join('/');
  const first = useRef(true);
  const title = titleOf(route.value);

  useEffect(() => {
    document.title = [title, cluster.value?.name, 'Manta'].filter((part) => part !== undefined).join(' · ');
  }, [title, cluster.value?.name]);

  // A reader by ear hears where a link led: the focus goes to the heading of the new view, before the next key is heard.
  useLayoutEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    main.current?.querySelector<HTMLElement>('h1')?.focus();
  }, [place.startsWith('nodes') ? 'nodes' : place]);

  return (
    <div class="shell">
      <a
        class="skip-link"
        href={linkTo(path)}
        onClick={(click) => {
          click.preventDefault();
          main.current?.querySelector<HTMLElement>('h1')?.focus();
        }}
      >
        Skip to content
      </a>
      <ShellHeader />
      <ShellNav current={path[0] ?? ''} />
      <main ref={main} class={`main main-${path[0] ?? 'overview'}${path[1] === undefined ? '' : ' has-detail'}`}>
        <View route={route.value} />
      </main>
      <SubmitDialog />
      <ShortcutHelp />
      <Toasts />
    </div>
  );
}

function View({ route: { path } }: { route: Route }) {
  if (cluster.value === undefined) {
    if (loadFailure.value === undefined) return <Loading lines={8} />;
    return <Failure failure={loadFailure.value} onRetry={() => void startFeed()} />;
  }
  const [first, second] = path;
  if (first === undefined) return <OverviewView />;
  if (first === 'jobs') return second === undefined ? <JobsView /> : <JobView key={second} id={second} />;
  if (first === 'nodes') return <NodesView chosen={second} />;
  if (first === 'demand') return <DemandView />;
  if (first === 'events') return <EventsView />;
  return (
    <div class="empty">
      <h1 class="empty-title" tabIndex={-1}>
        Page not found
      </h1>
      <p class="empty-text">
        <a href={linkTo([])}>Go to the overview</a>
      </p>
    </div>
  );
}

function titleOf({ path: [first, second] }: Route): string {
  const names: Readonly<Record<string, string>> = { jobs: 'Jobs', nodes: 'Nodes', demand: 'Demand', events: 'Events' };
  const name = first === undefined ? 'Overview' : (ownValue(names, first) ?? 'Not found');
  return second === undefined ? name : second;
}
