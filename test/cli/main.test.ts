import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineError } from '../../src/base/errors.ts';
import { main } from '../../src/cli/main.ts';
import { runTry, screen, trying } from './screen.ts';

const Broken = defineError<{ part: string }>({
  code: 'MANTA_TEST_BROKEN',
  exit: 5,
  message: (e) => `the ${e.part} is broken`,
  hint: () => 'mend it',
});

describe('an error', () => {
  test('is shown with its message, code and next step, and sets the exit code', async () => {
    const on = screen();
    const exit = await runTry(() => Promise.reject(Broken({ part: 'wheel' }, new Error('a nail'))), [], on);
    assert.equal(exit, 5);
    assert.equal(on.shown.stderr, 'error: the wheel is broken (MANTA_TEST_BROKEN)\nhint: mend it\n');
    assert.equal(on.shown.stdout, '');
  });

  test('shows its causes with --verbose, and no stack trace', async () => {
    const on = screen();
    const cause = new Error('a nail', { cause: new Error('a road') });
    await runTry(() => Promise.reject(Broken({ part: 'wheel' }, cause)), ['--verbose'], on);
    assert.match(on.shown.stderr, /cause: a nail\ncause: a road\n$/);
    assert.doesNotMatch(on.shown.stderr, /^\s+at /m);
  });

  test('that nobody foresaw is a fault of Manta and says what to send; the stack comes with --verbose only', async () => {
    const bug = () => Promise.reject(new TypeError('x is undefined\nsecond line'));
    const [brief, full] = [screen(), screen()];
    assert.equal(await runTry(bug, [], brief), 70);
    assert.equal(await runTry(bug, ['-v'], full), 70);
    assert.match(
      brief.shown.stderr,
      /^error: internal error: x is undefined \(MANTA_INTERNAL\)\nhint: this is a bug in Manta: report it/,
    );
    assert.doesNotMatch(brief.shown.stderr, /^\s+at /m);
    assert.match(full.shown.stderr, /^\s+at /m);
  });

  test('of something thrown that is no error at all is shown as well', async () => {
    const on = screen();
    // oxlint-disable-next-line prefer-promise-reject-errors
    assert.equal(await runTry(() => Promise.reject({ odd: 1 }), [], on), 70);
    assert.match(on.shown.stderr, /odd: 1/);
  });

  test('is one JSON line with --json, also when the command line itself is wrong', async () => {
    const on = screen();
    assert.equal(
      await main(
        ['tyr', '--json'],
        on,
        new AbortController(),
        trying(async () => 0),
      ),
      2,
    );
    assert.deepEqual(JSON.parse(on.shown.stderr), {
      level: 'error',
      code: 'MANTA_CLI_UNKNOWN_COMMAND',
      message: "unknown command 'tyr' for 'manta'",
      hint: "did you mean 'try'?",
    });
  });
});

describe('being stopped', () => {
  test('Ctrl-C aborts the command, which tidies up; the exit code is 130', async () => {
    const on = screen();
    const stop = new AbortController();
    let tidied = false;
    const commands = trying(
      (_, io) =>
        new Promise((_resolve, reject) => {
          io.signal.addEventListener('abort', () => {
            tidied = true;
            reject(io.signal.reason as Error);
          });
          stop.abort({ signal: 'SIGINT', exit: 130 });
        }),
    );
    assert.equal(await main(['try'], on, stop, commands), 130);
    assert.ok(tidied);
    assert.equal(on.shown.stderr, 'error: interrupted by SIGINT (MANTA_INTERRUPTED)\n');
  });

  test('is how a command that stands until then ends, and no error', async () => {
    const options = [{ name: 'follow', summary: 'go on' }];
    const ended = async (words: readonly string[], untilInterrupted: true | string): Promise<string> => {
      const on = screen();
      const stop = new AbortController();
      const run = async (): Promise<number> => {
        stop.abort({ signal: 'SIGINT', exit: 130 });
        throw stop.signal.reason as Error;
      };
      assert.equal(await main(['try', ...words], on, stop, trying(run, { options, untilInterrupted })), 130);
      return on.shown.stderr;
    };
    assert.equal(await ended([], true), '');
    assert.equal(await ended(['--follow'], 'follow'), '');
    assert.match(await ended([], 'follow'), /MANTA_INTERRUPTED/);
  });

  test('what goes wrong while tidying up is still told', async () => {
    const on = screen();
    const stop = new AbortController();
    const commands = trying(async () => {
      stop.abort({ signal: 'SIGINT', exit: 130 });
      throw Broken({ part: 'broom' });
    });
    assert.equal(await main(['try'], on, stop, commands), 130);
    assert.match(on.shown.stderr, /the broom is broken[^]*interrupted by SIGINT/);
  });

  test('a reader that goes away aborts the command at its next output, quietly', async () => {
    const on = screen();
    let outputs = 0;
    const exit = await runTry(
      async (_, io) => {
        for (;;) {
          io.out('line\n');
          if (++outputs === 3) on.closeOutput();
        }
      },
      [],
      on,
    );
    assert.deepEqual([exit, outputs, on.shown.stderr], [141, 3, '']);
  });
});

describe('colour', () => {
  const color = async (words: readonly string[], env: Record<string, string>, terminal: boolean): Promise<boolean> => {
    let seen = false;
    await runTry(async (_, io) => ((seen = io.color), 0), words, screen({ terminal, env }));
    return seen;
  };
  test('follows the terminal, then the environment, then the option', async () => {
    assert.equal(await color([], {}, true), true);
    assert.equal(await color([], {}, false), false);
    assert.equal(await color([], { TERM: 'dumb' }, true), false);
    assert.equal(await color([], { NO_COLOR: '1' }, true), false);
    assert.equal(await color([], { NO_COLOR: '' }, true), true);
    assert.equal(await color([], { FORCE_COLOR: '1' }, false), true);
    assert.equal(await color([], { FORCE_COLOR: '0' }, true), false);
    assert.equal(await color([], { NO_COLOR: '1', FORCE_COLOR: '1' }, true), false);
    assert.equal(await color(['--color'], { NO_COLOR: '1' }, false), true);
    assert.equal(await color(['--no-color'], { FORCE_COLOR: '1' }, true), false);
    assert.equal(await color(['--json', '--color'], {}, true), false);
  });
});

test('a terminal that does not know its width counts as 80 columns', async () => {
  let columns = -1;
  await runTry(async (_, io) => ((columns = io.columns), 0), [], screen({ columns: 0 }));
  assert.equal(columns, 80);
});

test('a command that does not read standard input does not open it', async () => {
  const on = screen();
  let opened = false;
  Object.defineProperty(on, 'stdin', { get: () => (opened = true) });
  await runTry(async () => 0, [], on);
  assert.equal(opened, false);
});
