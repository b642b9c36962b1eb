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
      `${e.node}: nothing heard for ${e.seconds} s from: ${e.command}${e.last === '' ? '' : ` (last line: ${e.last})`}`,
  }),
  retrying: defineEvent<{ node: string; command: string; code: number }>({
    code: 'MANTA_BRINGUP_RETRYING',
    level: 'warn',
    text: (e) => `${e.node}: ${e.code < 0 ? 'it was lost' : `exit code ${e.code}`}, trying once more: ${e.command}`,
  }),
  reattached: defineEvent<{ node: string; why: string }>({
    code: 'MANTA_BRINGUP_REATTACHED',
    level: 'warn',
    text: (e) => `${e.node}: the connection is lost and made again; the command goes on there meanwhile (${e.why})`,
  }),
  goingOn: defineEvent<{ node: string; why: string }>({
    code: 'MANTA_BRINGUP_GOING_ON',
    level: 'warn',
    text: (e) => `${e.node}: the connection was lost; going on with what is not done yet (${e.why})`,
  }),
  powerless: defineEvent<{ node: string }>({
    code: 'MANTA_BRINGUP_POWERLESS',
    level: 'warn',
    text: (e) =>
      `${e.node}: its user may not use sudo without a password: when its head is gone, Ray ends there by its lease, but the machine does not switch itself off and goes on costing`,
  }),
  started: defineEvent<{ node: string; done: string }>({
    code: 'MANTA_BRINGUP_STARTED',
    level: 'info',
    text: (e) => `${e.node}: Ray is started (${e.done})`,
  }),
};
