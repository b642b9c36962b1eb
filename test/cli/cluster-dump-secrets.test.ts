import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretsInText } from '../../src/base/redact.ts';
import { cleanText, cleanYaml, secretsInValue } from '../../src/cli/commands/cluster-dump/secrets.ts';

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

test('the words of a command, of netrc and of a URL are cleaned as anywhere else', () => {
  const log = `$ docker login -u me -p X1
$ wandb login abcdef0123456789
$ aws configure set aws_secret_access_key X2
$ curl -u a:b https://h
$ git clone https://ghp_0123456789abcdefghij@github.com/a/b
$ run --api-key X3
machine h login l password p
-----BEGIN RSA PRIVATE KEY-----
AAAA
-----END RSA PRIVATE KEY-----
`;
  assert.equal(
    cleanText(log, []),
    `$ docker login -u me -p ***
$ wandb login ***
$ aws configure set aws_secret_access_key ***
$ curl -u a:*** https://h
$ git clone https://***@github.com/a/b
$ run --api-key ***
machine h login l password ***
***
`,
  );
});

test('of a cluster file the places of secrets stay, and the secrets go', () => {
  const file = `auth:
  ssh_private_key: ~/.ssh/key.pem
provider:
  api_key: abc/def
  token: \${TOKEN}
`;
  assert.equal(cleanYaml(file, []), file.replace('abc/def', '***'));
});
