import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanText, secretsInValue } from '../../src/cli/commands/cluster-dump-secrets.ts';
import { secretsInText } from '../../src/core/secrets-in-text.ts';

test('what stands under the name of a secret is known wherever else it occurs', () => {
  const file = `setup_commands:
  - export WANDB_API_KEY=s3cr3tkey123456789 && ./login
  - echo 'password: correcthorse' >~/.netrc
  - pip install -i https://ada:pa55word@pypi.example/simple ray
`;
  const secrets = secretsInText(file, 'cluster-file');
  assert.deepEqual(secrets, ['s3cr3tkey123456789', 'correcthorse', 'pa55word']);
  const printed = 'logged in with s3cr3tkey123456789, correcthorse and pa55word';
  assert.equal(cleanText(printed, secrets), 'logged in with ***, *** and ***');
});

test('of what programs print only values that look like secrets are kept in mind', () => {
  const log =
    'token: expired\npassword=$DB_PASSWORD api_key: http://10.0.0.1:8265 token=10.0.0.7 access_token=ab12cd34ef56';
  assert.deepEqual(secretsInText(log, 'any'), ['ab12cd34ef56']);
});

test('values of JSON are looked through by their keys and in their texts', () => {
  const value = {
    launchToken: 'launch-0001-abcd',
    because: { token: 'launch-0001-abcd' },
    runtime_env: { env_vars: { DB: 's3cr3t-value', MODE: 'production' } },
    credentials: ['9f8e7d6c5b4a'],
    events: [{ text: 'ran: export HF_TOKEN=hf_123456789' }],
  };
  assert.deepEqual(secretsInValue(value), ['s3cr3t-value', '9f8e7d6c5b4a', 'hf_123456789']);
});

test('a secret that begins another one does not keep that one in sight', () => {
  assert.equal(cleanText('abcdef123456', ['abcdef', 'abcdef123456']), '***');
});
