import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpClient } from '../../src/client/http.ts';
import { ServeOnHead } from '../../src/client/serve.ts';
import { serveErrors } from '../../src/core/serve/errors.ts';

test('a RayService is not changed past its manifest, where KubeRay would undo it', async () => {
  const target = { shown: 'kube:n/s', onKube: 'RayService' };
  const serve = new ServeOnHead({ target, ask: () => assert.fail('it was asked') } as unknown as HttpClient);
  await assert.rejects(serve.deploy({}), (error) => serveErrors.Managed.is(error));
  await assert.rejects(serve.shutdown(), (error) => serveErrors.Managed.is(error));
});
