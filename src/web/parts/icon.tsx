import type { JSX } from 'preact';
import type { Look } from '../words/states.ts';

const paths = {
  overview: <path d="M3 3h7v8H3zM14 3h7v5h-7zM14 12h7v9h-7zM3 15h7v6H3z" />,
  jobs: <path d="M4 6h16M4 12h16M4 18h10" />,
  nodes: <path d="M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01" />,
  demand: <path d="M12 3v12m0-12-4 4m4-4 4 4M4 17v4h16v-4" />,
  events: <path d="M3 12h4l3-8 4 16 3-8h4" />,
  search: <path d="M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5" />,
  plus: <path d="M12 5v14M5 12h14" />,
  close: <path d="m6 6 12 12M18 6 6 18" />,
  back: <path d="m14 6-6 6 6 6" />,
  next: <path d="m10 6 6 6-6 6" />,
  up: <path d="m6 15 6-6 6 6" />,
  down: <path d="m6 9 6 6 6-6" />,
  stop: <path d="M6 6h12v12H6z" />,
  retry: <path d="M20 5v5h-5M20 10a8 8 0 1 0 .5 5" />,
  bin: <path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13" />,
  copy: <path d="M9 9h11v11H9zM15 9V4H4v11h5" />,
  download: <path d="M12 4v11m0 0-4-4m4 4 4-4M4 20h16" />,
  sun: (
    <path d="M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.400M17.6 17.6 19 19M5 19l1.4-1.400M17.6 6.4 19 5" />
  ),
  moon: <path d="M20 14.500A8.5 8.5 0 1 1 9.5 4 7 7 0 0 0 20 14.500z" />,
  auto: <path d="M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18" />,
  keyboard: <path d="M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M17 14h.01M7 14h7" />,
} satisfies Record<string, JSX.Element>;

export type IconName = keyof typeof paths;

/** A drawing beside a text or a name; it says nothing by itself to a screen reader. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {paths[name]}
    </svg>
  );
}

const shapes: Readonly<Record<Look['shape'], JSX.Element>> = {
  ring: <circle cx="8" cy="8" r="5" class="line" />,
  clock: <path d="M8 2.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3.300l2.2 1.3" class="line" />,
  half: (
    <>
      <circle cx="8" cy="8" r="5" class="line" />
      <path d="M8 3a5 5 0 0 1 0 10z" class="solid" />
    </>
  ),
  play: (
    <>
      <circle cx="8" cy="8" r="6.5" class="solid" />
      <path d="M6.5 5.200v5.600L11 8z" class="cut" />
    </>
  ),
  check: (
    <>
      <circle cx="8" cy="8" r="6.5" class="solid" />
      <path d="m5 8.2 2.1 2.100L11 6.3" class="cut-line" />
    </>
  ),
  cross: (
    <>
      <path d="M5.2 1.500h5.600l3.7 3.700v5.600l-3.7 3.700H5.200l-3.7-3.700V5.200z" class="solid" />
      <path d="m5.7 5.7 4.6 4.600M10.3 5.700l-4.6 4.6" class="cut-line" />
    </>
  ),
  square: <rect x="3.5" y="3.5" width="9" height="9" rx="1.5" class="solid" />,
  down: <path d="M8 2.500v10m0 0L4 8.700m4 3.8 4-3.8" class="line" />,
  info: (
    <>
      <circle cx="8" cy="8" r="5.7" class="line" />
      <path d="M8 7.300v3.500M8 5.200h.01" class="line" />
    </>
  ),
  alert: (
    <>
      <path d="M8 1.8 14.8 14H1.200z" class="solid" />
      <path d="M8 6.300v3.400M8 11.700h.01" class="cut-line" />
    </>
  ),
  dot: <circle cx="8" cy="8" r="2.5" class="solid" />,
  rise: <path d="m8 3 5.5 9.5h-11z" class="solid" />,
  fall: <path d="m8 13 5.5-9.5h-11z" class="solid" />,
};

/** A state: its shape and colour beside its word. */
export function StateMark({ look, quiet = false }: { look: Look; quiet?: boolean }) {
  return (
    <span class={`state tone-${look.tone}`}>
      <svg class="shape" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        {shapes[look.shape]}
      </svg>
      <span class={quiet ? 'hidden-text' : 'state-label'}>{look.label}</span>
    </span>
  );
}
