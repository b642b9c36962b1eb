import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { callerAddress } from '../../src/providers/caller-address.ts';
import { never } from '../contract/waiting.ts';

async function addressSaid(t: TestContext, text: string, endless = false): Promise<string | undefined> {
  const server = createServer((_, response) => void (endless ? response.write(text) : response.end(text)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await callerAddress({ env: { MANTA_CHECKIP_URL: url }, signal: never });
}

test('an address is believed, anything else is not, and a long answer is not read to its end', async (t) => {
  assert.equal(await addressSaid(t, '203.0.113.7\n'), '203.0.113.7');
  assert.equal(await addressSaid(t, '2001:db8::1'), '2001:db8::1');
  for (const text of ['', 'sign in first', '203.0.113.7, 203.0.113.8', `203.0.113.7${' '.repeat(100)}<html>`])
    assert.equal(await addressSaid(t, text), undefined, text);
  assert.equal(await addressSaid(t, 'x'.repeat(1 << 20), true), undefined);
  assert.equal(await callerAddress({ env: { MANTA_CHECKIP_URL: '' }, signal: never }), undefined);
});
