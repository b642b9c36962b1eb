import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, readQuestion } from '../../lab/kube/dns-message.ts';
import { namesOf } from '../../lab/kube/dns-names.ts';

const zone = 'svc.cluster.local';

test('a Service leads to its address, a headless one to its pods that are ready', () => {
  const service = (name: string, clusterIP: string) => ({ metadata: { name, namespace: 'a' }, spec: { clusterIP } });
  const slice = {
    metadata: { name: 'head-1', namespace: 'a', labels: { 'kubernetes.io/service-name': 'head' } },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.88.1.4'], conditions: { ready: true }, hostname: 'one' },
      { addresses: ['10.88.2.4'], conditions: { ready: false } },
      { addresses: ['10.88.2.5'] },
    ],
  };
  const ofServe = { ...slice, metadata: { ...slice.metadata, labels: { 'kubernetes.io/service-name': 'serve' } } };
  const services = [service('head', 'None'), service('serve', '10.96.3.4'), service('empty', 'None')];
  assert.deepEqual(
    [...namesOf(services, [slice, ofServe])],
    [
      [`head.a.${zone}`, ['10.88.1.4', '10.88.2.5']],
      [`serve.a.${zone}`, ['10.96.3.4']],
      [`empty.a.${zone}`, []],
      [`one.head.a.${zone}`, ['10.88.1.4']],
    ],
  );
});

test('a question is answered with addresses, with none, or with the news that there is no such name', () => {
  const ask = (name: string, type: number): Buffer =>
    Buffer.concat([
      Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
      ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0, 0, type, 0, 1]),
    ]);
  const message = ask('Head.a', 1);
  const question = readQuestion(message)!;
  assert.deepEqual([question.name, question.type, question.end], ['head.a', 1, message.length]);
  const found = answer(message, question, { found: true, addresses: ['10.88.1.4', '10.88.2.5'] });
  assert.deepEqual([found.readUInt16BE(0), found.readUInt16BE(2), found.readUInt16BE(6)], [0x1234, 0x8580, 2]);
  assert.deepEqual([...found.subarray(-4)], [10, 88, 2, 5]);
  const other = answer(ask('head.a', 28), readQuestion(ask('head.a', 28))!, { found: true, addresses: ['10.88.1.4'] });
  assert.deepEqual([other[3]! & 15, other.readUInt16BE(6)], [0, 0]);
  assert.equal(answer(message, question, { found: false, addresses: [] })[3]! & 15, 3);
  for (const bad of [Buffer.alloc(5), message.subarray(0, 16), found]) assert.equal(readQuestion(bad), undefined);
});
