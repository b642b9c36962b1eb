import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { RayEngine } from '../../../src/engines/ray/engine.ts';
import { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import { RayJobsApi } from '../../../src/engines/ray/jobs/jobs-api.ts';
import { never } from '../../contract/waiting.ts';
import { makeApiBed } from '../../jobs/api-bed.ts';
import { assertCase, type ClientCase, clientCases } from '../../jobs/client-cases.ts';
import { dashboard, engineOptions, folder, python, token } from './ray-cluster.ts';

const same = [
  'metadata and the submission id reach the driver',
  'a driver may set every variable that its job does not',
  'the driver of a job is told, and the job is found by it',
  'a hook of worker processes runs',
  'packages of other schemes are fetched by Ray',
  'archives of every format are unpacked',
  "a set-up that fails is told in Ray's words",
  'a set-up has the time that its job gives it',
  'the version is that of a Ray, with its commit',
];

/** Ray's own Python client, asking Ray itself and Manta before that Ray: what the one does, the other does. */
export function clientCasesOnRay(): void {
  describe("Ray's Python client", () => {
    let plain: ReadonlyMap<string, ClientCase>;
    let manta: ReadonlyMap<string, ClientCase>;
    before(async () => {
      const engine = await RayEngine.open(engineOptions(), never);
      const http = new RayHttp(token);
      const ray = await new RayJobsApi(dashboard, http).version(never);
      const bed = await makeApiBed({
        runner: engine,
        ray,
        atEngine: {
          others: (signal) => engine.jobsOfOthers(signal),
          drivers: (signal) => engine.drivers(signal),
          driverOf: (id, signal) => engine.driverOf(id, signal),
        },
      });
      try {
        const env = { PLAIN_ADDRESS: dashboard, PLAIN_TOKEN: token };
        const place = (kind: string): string => join(folder, `client-${kind}`);
        [plain, manta] = await Promise.all([
          clientCases({ python, kind: 'plain', address: dashboard, token, folder: place('plain') }),
          clientCases({ python, kind: 'ray', address: bed.address, token: bed.token, folder: place('ray'), env }),
        ]);
      } finally {
        await bed.remove();
        await engine.close();
        http.close();
      }
    });

    for (const name of same) {
      it(`asks Ray itself: ${name}`, () => void assertCase(plain, name));
      it(`asks Manta: ${name}`, () => void assertCase(manta, name));
    }

    it('finds the same runtime environment in the driver, whoever took the job', () => {
      const name = 'the runtime environment of a driver is that of its job';
      const shown = (cases: typeof plain): unknown =>
        JSON.parse(JSON.stringify(assertCase(cases, name).value).replaceAll(/client-(?:plain|ray)/g, 'client'));
      assert.deepEqual(shown(manta), shown(plain));
    });

    it('hands every part of a runtime environment to Ray through Manta', () => {
      assertCase(manta, 'every part of a runtime environment reaches Ray as it was submitted');
    });
  });
}
