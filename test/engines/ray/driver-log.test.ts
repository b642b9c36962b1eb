import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DriverLog } from '../../../src/engines/ray/jobs/driver-log.ts';

const head = '2026-11-15 15:04:18,123\tINFO job_manager.py:568 -- Runtime env is setting up.\n';
const mark = (entrypoint: string): string => `Running entrypoint for job j.1: ${entrypoint}\n`;

function through(file: Buffer, cuts: readonly number[], entrypoint: string): Buffer {
  const log = new DriverLog('j.1', entrypoint);
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.map((each) => each % (file.length + 1)).sort((a, b) => a - b), file.length]) {
    out.push(log.take(file.subarray(from, cut)));
    from = cut;
  }
  return Buffer.concat([...out, log.rest()]);
}

describe("the output of a job in the log of ray's driver", () => {
  it("is what is left without ray's own words, wherever they stand and however the bytes come", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(),
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (onHead, bytes, place, entrypoint, cuts) => {
          const output = Buffer.from(bytes);
          const at = place % (output.length + 1);
          const parts = [output.subarray(0, at), Buffer.from(mark(entrypoint)), output.subarray(at)];
          const file = Buffer.concat([Buffer.from(onHead ? head : ''), ...parts]);
          assert.ok(through(file, cuts, entrypoint).equals(output));
        },
      ),
    );
  });

  it('is all there when the second word never came, because the driver died with its node', () => {
    const output = 'Running entrypoint for job j.1: tr';
    assert.equal(through(Buffer.from(head + output), [3, 90], 'true').toString(), output);
  });

  it('keeps words that only look like those of ray', () => {
    const output = `2026-11-15 15:04:18,123\tINFO mine.py:1 -- Runtime env is setting up.\n${mark('other')}`;
    assert.equal(through(Buffer.from(output + mark('true')), [], 'true').toString(), output);
  });

  it('holds nothing back once both words have passed', () => {
    const log = new DriverLog('j.1', 'true');
    log.take(Buffer.from(head + mark('true')));
    assert.ok(log.settled);
    assert.equal(log.take(Buffer.from('Running')).toString(), 'Running');
  });
});
