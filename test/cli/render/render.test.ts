import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { EventSink, Level } from '../../../src/base/events.ts';
import { liveRenderer } from '../../../src/cli/render/live.ts';
import { styleFor } from '../../../src/cli/render/style.ts';
import { runTry, screen } from '../screen.ts';

const said = (level: Level) => ({ code: `TEST_${level.toUpperCase()}`, level, text: (text: string) => text });
const step = said('info');

const show = async (words: readonly string[], emit: (events: EventSink) => void, options = {}): Promise<string> => {
  const on = screen(options);
  await runTry(async (_, io) => (emit(io.events), 0), words, on);
  return on.shown.stderr;
};

const everyLevel = (events: EventSink): void => {
  for (const level of ['debug', 'info', 'warn', 'error', 'result'] as const) events.emit(said(level), level);
};

describe('plain lines', () => {
  test('one line an event; debug with --verbose only, information not with --quiet', async () => {
    assert.equal(await show([], everyLevel), 'info\nwarning: warn\nerror: error\nresult\n');
    assert.match(await show(['--verbose'], everyLevel), /^debug: debug\n/);
    assert.equal(await show(['--quiet'], everyLevel), 'warning: warn\nerror: error\nresult\n');
  });

  test('long work is told at its start, at each quarter and at its end', async () => {
    const shown = await show([], (events) => {
      for (let done = 0; done < 100; done++)
        events.emit(step, `${done} of 100`, { id: 'a', state: 'running', fraction: done / 100 });
      events.emit(step, 'all 100', { id: 'a', state: 'done' });
    });
    assert.equal(shown, '0 of 100\n25 of 100\n50 of 100\n75 of 100\nall 100\n');
  });

  test('are used on a terminal too when it cannot redraw or a build server runs it', async () => {
    for (const env of [{ TERM: 'dumb' }, { CI: 'true' }]) {
      const shown = await show(['--no-color'], (events) => events.emit(step, 'a', { id: 'a', state: 'running' }), {
        terminal: true,
        env,
      });
      assert.equal(shown, 'a\n');
    }
  });

  test('what a machine says cannot drive the terminal', async () => {
    assert.equal(await show([], (events) => events.emit(step, 'a\u001b[2Jb\u0007\u009bc')), 'a\\x1b[2Jb\\x07\\x9bc\n');
  });
});

describe('JSON lines', () => {
  test('carry code, level, time, text, data and progress', async () => {
    const kind = { code: 'TEST_A', level: 'info' as const, text: (data: { n: bigint }) => `n is ${data.n}` };
    const shown = await show(['--json'], (events) => events.emit(kind, { n: 12n }, { id: 'x', state: 'done' }));
    const { at, ...rest } = JSON.parse(shown) as Record<string, unknown>;
    assert.match(String(at), /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(rest, {
      level: 'info',
      code: 'TEST_A',
      text: 'n is 12',
      data: { n: '12' },
      progress: { id: 'x', state: 'done' },
    });
  });

  test('hide credentials, by key and by look, and stay JSON', async () => {
    const kind = { code: 'TEST_A', level: 'info' as const, text: () => 'Authorization: Bearer abcdefghijkl' };
    const data = {
      password: 'hunter22',
      max_token: 12345,
      url: 'https://me:geheim@host/x',
      nested: { clientSecret: 'abc' },
    };
    const event = JSON.parse(await show(['--json'], (events) => events.emit(kind, data))) as {
      text: string;
      data: unknown;
    };
    assert.doesNotMatch(JSON.stringify(event), /hunter22|geheim|"abc"|abcdefghijkl/);
    assert.equal((event.data as typeof data).max_token, 12345);
  });
});

describe('the live terminal', () => {
  const live = () => {
    const written: string[] = [];
    let tick: (() => void) | undefined;
    const renderer = liveRenderer(
      { stdout: (text) => written.push(`<out>${text.toString()}`), stderr: (text) => written.push(text) },
      { verbose: false, quiet: false },
      styleFor(false),
      { columns: () => 40, rows: () => 6, every: (_, call) => ((tick = call), { stop: () => (tick = undefined) }) },
    );
    const emit = (id: string, state: 'running' | 'done' | 'failed', text: string, fraction?: number): void =>
      renderer.event({
        code: 'T',
        level: 'info',
        at: 0,
        text,
        data: {},
        progress: { id, state, ...(fraction !== undefined && { fraction }) },
      });
    return { renderer, emit, written, ticking: () => tick };
  };

  test('redraws running steps in place and leaves ended ones above them', () => {
    const { emit, written } = live();
    emit('a', 'running', 'booting a');
    emit('b', 'running', 'booting b', 0.5);
    assert.match(written.at(-1)!, /^\u001b\[1A\u001b\[0J⠋ booting a\n⠋ booting b ██████████░░░░░░░░░░ {2}50%\n$/);
    emit('a', 'done', 'a is up');
    assert.match(written.at(-1)!, /^\u001b\[2A\u001b\[0J✔ a is up\n⠋ booting b/);
    emit('b', 'failed', 'b is lost');
    assert.match(written.at(-1)!, /✖ b is lost\n$/);
  });

  test('turns its spinner only while something runs', () => {
    const { emit, written, ticking } = live();
    emit('a', 'running', 'booting');
    ticking()!();
    assert.match(written.at(-1)!, /⠙ booting/);
    emit('a', 'done', 'up');
    assert.equal(ticking(), undefined);
  });

  test('fits the window: long lines are cut, many lines are counted', () => {
    const { emit, written } = live();
    for (let index = 0; index < 10; index++) emit(`${index}`, 'running', 'x'.repeat(100));
    const lines = stripVTControlCharacters(written.at(-1)!).trimEnd().split('\n');
    assert.equal(lines.length, 4);
    assert.ok(
      lines.every((line) => line.length < 40),
      lines.join('\n'),
    );
    assert.equal(lines.at(-1), '… and 7 more');
  });

  test('makes way for the result and for errors, and leaves a clean terminal behind', () => {
    const { renderer, emit, written } = live();
    emit('a', 'running', 'booting');
    written.length = 0;
    renderer.out('the result\n');
    assert.deepEqual(written, ['\u001b[1A\u001b[0J', '<out>the result\n', '⠋ booting\n']);
    renderer.close();
    assert.equal(written.at(-1), '\u001b[1A\u001b[0J');
  });
});
