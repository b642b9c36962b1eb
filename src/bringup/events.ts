import { defineEvent } from '../base/events.ts';

/** What is told while a node is made. */
export const bringupEvents = {
  waiting: defineEvent<{ node: string; why: string }>({
    code: 'MANTA_BRINGUP_WAITING',
    level: 'info',
    text: (e) => `${e.node}: waiting for SSH: ${e.why}`,
  }),
  step: defineEvent<{ node: string; step: string; detail?: string }>({
    code: 'MANTA_BRINGUP_STEP',
    level: 'info',
    text: (e) => `${e.node}: ${e.step}${e.detail === undefined ? '' : `: ${e.detail}`}`,
  }),
  output: defineEvent<{ node: string; line: string }>({
    code: 'MANTA_BRINGUP_OUTPUT',
    level: 'debug',
    text: (e) => `${e.node} | ${e.line}`,
  }),
  silent: defineEvent<{ node: string; command: string; seconds: number; last: string }>({
    code: 'MANTA_BRINGUP_SILENT',
    level: 'warn',
    text: (e) =>
      `${e.node}: no output for ${e.seconds} s from: ${e.command}${e.last === '' ? '' : ` (last line: ${e.last})`}`,
  }),
  retrying: defineEvent<{ node: string; command: string; code: number }>({
    code: 'MANTA_BRINGUP_RETRYING',
    level: 'warn',
    text: (e) => `${e.node}: ${e.code < 0 ? 'lost the command' : `exit code ${e.code}`}, retrying once: ${e.command}`,
  }),
  reattached: defineEvent<{ node: string; why: string }>({
    code: 'MANTA_BRINGUP_REATTACHED',
    level: 'warn',
    text: (e) => `${e.node}: lost the connection, reconnecting; the command keeps running there (${e.why})`,
  }),
  goingOn: defineEvent<{ node: string; why: string }>({
    code: 'MANTA_BRINGUP_GOING_ON',
    level: 'warn',
    text: (e) => `${e.node}: lost the connection; continuing with the remaining steps (${e.why})`,
  }),
  powerless: defineEvent<{ node: string }>({
    code: 'MANTA_BRINGUP_POWERLESS',
    level: 'warn',
    text: (e) =>
      `${e.node}: the user has no passwordless sudo; if the head is lost, Ray stops when its lease expires, but the machine cannot power itself off and keeps costing money`,
  }),
  started: defineEvent<{ node: string; done: string }>({
    code: 'MANTA_BRINGUP_STARTED',
    level: 'info',
    text: (e) => `${e.node}: Ray is running (${e.done})`,
  }),
  rayMonitorEnded: defineEvent<{ node: string; pid: number }>({
    code: 'MANTA_RAY_MONITOR_ENDED',
    level: 'warn',
    text: (e) =>
      `killed Ray's own autoscaler monitor on '${e.node}' (pid ${e.pid}), which would have conflicted with Manta`,
  }),
  containerMade: defineEvent<{ node: string; name: string; image: string; why: string }>({
    code: 'MANTA_CONTAINER_MADE',
    level: 'info',
    text: (e) => `${e.node}: started the container '${e.name}' with '${e.image}' (${e.why})`,
  }),
  containerUnreadable: defineEvent<{ node: string; name: string; path: string }>({
    code: 'MANTA_CONTAINER_UNREADABLE',
    level: 'warn',
    text: (e) => `${e.node}: the user in the container '${e.name}' cannot read the file mount ${e.path}`,
  }),
};
