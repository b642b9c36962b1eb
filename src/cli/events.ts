import { defineEvent } from '../base/events.ts';

/** What is said about a command line itself. */
export const cliEvents = {
  ignoredOption: defineEvent<{ option: string; why: string }>({
    code: 'MANTA_CLI_IGNORED_OPTION',
    level: 'info',
    text: (e) => `${e.option} has no effect here: ${e.why}`,
  }),
  plainDownload: defineEvent<{ address: string }>({
    code: 'MANTA_CLI_PLAIN_DOWNLOAD',
    level: 'warn',
    text: (e) => `${e.address} is read without encryption: whoever sits on the way can change what is run`,
  }),
};
