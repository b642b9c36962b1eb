import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOperatorsAlone } from '../../../src/core/kube/operator-fields.ts';

const owned = (...managers: readonly string[]) => ({
  metadata: {
    managedFields: [
      ...managers.map((manager) => ({ manager, fieldsV1: { 'f:spec': {} } })),
      { manager: 'argocd', subresource: 'status', fieldsV1: { 'f:spec': {} } },
      { manager: 'somebody', fieldsV1: { 'f:metadata': {} } },
    ],
  },
});

test('fields that the operator owns for having written defaults belong to nobody else', () => {
  assert.equal(isOperatorsAlone(owned('manta', 'kuberay-operator'), 'manta'), true);
  assert.equal(isOperatorsAlone(owned('manta', 'kuberay-operator', 'argocd'), 'manta'), false);
  assert.equal(isOperatorsAlone(owned('manta'), 'manta'), false);
  assert.equal(isOperatorsAlone(undefined, 'manta'), false);
});
