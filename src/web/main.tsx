import { render } from 'preact';
import { App } from './app.tsx';
import { startClock } from './state/clock.ts';
import { followUps, startFeed } from './state/feed.ts';
import { applyPreferences } from './state/preferences.ts';
import { followHash } from './state/route.ts';

const root = document.getElementById('app');
if (root !== null) {
  applyPreferences();
  followHash();
  startClock();
  render(<App />, root);
  followUps();
  void startFeed();
}
