import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { userData } from '../../../src/providers/aws/launch/user-data.ts';

const login = { user: 'ubuntu', publicKey: 'ssh-ed25519 AAAA manta' };
const textOf = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

/** The bodies of the parts of a message, in order. */
function bodies(message: string): readonly string[] {
  const boundary = /boundary="([^"]+)"/.exec(message)![1]!;
  return message
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => part.slice(part.indexOf('\n\n') + 2));
}

test('a message of several parts stays whole, and so does a text that is not ASCII', () => {
  const own =
    'Content-Type: multipart/mixed; boundary="own"\n\n--own\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--own--\n';
  assert.ok(textOf(userData(own, login, undefined)).includes(`\n${own}`));
  const odd = '#!/bin/sh\necho grüße\n';
  const [first = ''] = bodies(textOf(userData(odd, login, undefined)));
  assert.equal(textOf(first), odd);
});

test('the same input gives the same text, and one that is too long is packed', () => {
  assert.equal(userData('#!/bin/sh\n', login, 'echo'), userData('#!/bin/sh\n', login, 'echo'));
  const long = `#!/bin/sh\n${'echo again\n'.repeat(2_000)}`;
  const packed = Buffer.from(userData(long, login, undefined), 'base64');
  assert.ok(packed.length < 16_384);
  assert.ok(gunzipSync(packed).toString().includes(long));
});

test('each kind of text is named as cloud-init itself would take it', () => {
  const kindOf = (given: string): string | undefined =>
    /Content-Type: (text\/[^;]+)/.exec(
      textOf(userData(given, login, undefined))
        .split('\n')
        .slice(3)
        .join('\n'),
    )?.[1];
  assert.equal(kindOf('#cloud-config\npackages: [jq]\n'), 'text/cloud-config');
  assert.equal(
    kindOf('#cloud-config-archive\n- {type: text/cloud-config, content: ""}\n'),
    'text/cloud-config-archive',
  );
  assert.equal(kindOf('#cloud-config-jsonp\n[]\n'), 'text/cloud-config-jsonp');
  assert.equal(kindOf('#include\nhttps://example.com\n'), 'text/x-include-url');
  assert.equal(kindOf('#include-once\nhttps://example.com\n'), 'text/x-include-once-url');
});
