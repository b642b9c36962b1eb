/** What counts as a credential in a text, and what does not. Every place that hides one uses this table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSecretName, redact, redactTexts, secretsInText } from '../../src/base/redact.ts';
import { fc } from '../property.ts';

/** Put together, so that nobody's scanner takes them for real ones. */
const made = (prefix: string, length: number): string =>
  prefix + 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'.repeat(3).slice(0, length);
const github = made('ghp_', 36);
const amazon = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const amazonSecret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const web = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'].join(
  '.',
);
const key = [
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  'b3BlbnNzaC1rZXktdjEAAAAA',
  '-----END OPENSSH PRIVATE KEY-----',
].join('\n');

const hidden: readonly (readonly [text: string, shown: string])[] = [
  // URLs
  ['https://user:pass@host/x.zip', 'https://user:***@host/x.zip'],
  ['ssh://root:hunter2@host:22/', 'ssh://root:***@host:22/'],
  ['postgres://app:p@ss:w0rd@db:5432/x', 'postgres://app:***@db:5432/x'],
  ['--extra-index-url https://ada:pa55@pypi.example/simple', '--extra-index-url https://ada:***@pypi.example/simple'],
  ['redis://:pa55word@cache:6379', 'redis://:***@cache:6379'],
  [`git clone https://${github}@github.com/a/b`, 'git clone https://***@github.com/a/b'],
  [`https://${github}:x-oauth-basic@github.com/a`, 'https://***:***@github.com/a'],
  [`https://x-access-token:${github}@github.com/a`, 'https://x-access-token:***@github.com/a'],
  ['https://0123456789abcdef@gitlab.example/a', 'https://***@gitlab.example/a'],
  // signed queries
  [
    `https://b.s3.amazonaws.com/k.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${amazon}%2F20260101&X-Amz-Expires=60&X-Amz-Signature=0f1e2d`,
    'https://b.s3.amazonaws.com/k.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=***&X-Amz-Expires=60&X-Amz-Signature=***',
  ],
  ['https://h/x?X-Amz-Security-Token=IQoJb3&a=b', 'https://h/x?X-Amz-Security-Token=***&a=b'],
  ['https://h/x?X-Goog-Signature=ab12&a=b', 'https://h/x?X-Goog-Signature=***&a=b'],
  ['https://a.blob.core/x.zip?sv=2026&sp=r&sig=ab%2Fcd%3D', 'https://a.blob.core/x.zip?sv=2026&sp=r&sig=***'],
  ['https://cdn/x?Expires=1&Signature=aBc~&Key-Pair-Id=K1', 'https://cdn/x?Expires=1&Signature=***&Key-Pair-Id=K1'],
  ['https://h/x?token=abc&b=1', 'https://h/x?token=***&b=1'],
  ['https://h/x.zip?a=1&access_token=ya.b#part', 'https://h/x.zip?a=1&access_token=***#part'],
  // commands
  ['docker login -u me -p X', 'docker login -u me -p ***'],
  ['docker login -p hunter2 registry.example', 'docker login -p *** registry.example'],
  [
    'sudo podman login --username me --password=hunter2 quay.io',
    'sudo podman login --username me --password=*** quay.io',
  ],
  ["docker login --password 'two words' h", "docker login --password '***' h"],
  ['echo hunter2 | docker login -u me --password-stdin', 'echo *** | docker login -u me --password-stdin'],
  ['skopeo copy --src-creds me:hunter2 docker://a docker://b', 'skopeo copy --src-creds me:*** docker://a docker://b'],
  ['wandb login X', 'wandb login ***'],
  ['pip install wandb && wandb login --relogin 0123456789abcdef', 'pip install wandb && wandb login --relogin ***'],
  ['aws configure set aws_secret_access_key X', 'aws configure set aws_secret_access_key ***'],
  [`aws_secret_access_key ${amazonSecret}`, 'aws_secret_access_key ***'],
  [`aws_secret_access_key = ${amazonSecret}`, 'aws_secret_access_key = ***'],
  ['curl -u a:b https://h/x', 'curl -u a:*** https://h/x'],
  ['/usr/bin/curl -sf -uada:secret1 https://h', '/usr/bin/curl -sf -uada:*** https://h'],
  ["curl --user 'ada:se:cret' https://h", "curl --user 'ada:***' https://h"],
  ['docker exec c curl --proxy-user a:b h', 'docker exec c curl --proxy-user a:*** h'],
  ["curl -H 'PRIVATE-TOKEN: abcd' h", "curl -H 'PRIVATE-TOKEN: ***' h"],
  ['train.py --api-key X', 'train.py --api-key ***'],
  ['train.py --api-key=X --lr 3', 'train.py --api-key=*** --lr 3'],
  ['hf auth login --token "abc def"', 'hf auth login --token "***"'],
  ['sshpass -p hunter2 ssh h', 'sshpass -p *** ssh h'],
  ['mysql -uroot -phunter2 db', 'mysql -uroot -p*** db'],
  ['redis-cli -h c -a hunter2 ping', 'redis-cli -h c -a *** ping'],
  ['openssl enc -pass pass:hunter2', 'openssl enc -pass pass:***'],
  ['docker login \\\n  -u me \\\n  -p S3cret99', 'docker login \\\n  -u me \\\n  -p ***'],
  ['curl \\\n  -u me:S3cret99 \\\n https://h', 'curl \\\n  -u me:*** \\\n https://h'],
  ['curl -su a:b h', 'curl -su a:*** h'],
  ['curl -sSu a:b h', 'curl -sSu a:*** h'],
  ['curl -u "a:b c" h', 'curl -u "a:***" h'],
  ['docker login -p "ab;cd99" h', 'docker login -p "***" h'],
  ["docker login -p 'ab|cd && 99' h; ls", "docker login -p '***' h; ls"],
  ['http -a u:p h', 'http -a u:*** h'],
  ['https --auth=u:p h', 'https --auth=u:*** h'],
  ['printf %s pw | docker login --password-stdin', 'printf %s *** | docker login --password-stdin'],
  ["printf '%s' pw | docker login --password-stdin", "printf '%s' *** | docker login --password-stdin"],
  ['wandb login abcdefgh', 'wandb login ***'],
  ['wandb login --host https://h KEY', 'wandb login --host https://h ***'],
  ['wandb login --relogin --host https://h abcdefgh', 'wandb login --relogin --host https://h ***'],
  ['aws configure set aws_secret_access_key hunter', 'aws configure set aws_secret_access_key ***'],
  ['AWS_SECRET_ACCESS_KEY abc', 'AWS_SECRET_ACCESS_KEY ***'],
  ['Authorization: token abcdef123', 'Authorization: token ***'],
  ['echo abc1 | gh auth login --with-token', 'echo *** | gh auth login --with-token'],
  ["printf 'abc1' | sudo hf auth login", "printf '***' | sudo hf auth login"],
  ['docker login -u me --password-stdin <<< hunter2', 'docker login -u me --password-stdin <<< ***'],
  ['gh auth login --with-token <<<"abc1"', 'gh auth login --with-token <<<"***"'],
  [`python -c "import wandb; wandb.login(key='abc1')"`, `python -c "import wandb; wandb.login(key='***')"`],
  ['twine upload -u me -p hunter2 dist/*', 'twine upload -u me -p *** dist/*'],
  ['redis-cli --pass hunter2', 'redis-cli --pass ***'],
  // names
  ['{"token": "abcdef"}', '{"token": "***"}'],
  ['{\\"token\\": \\"abcdef\\"}', '{\\"token\\": \\"***\\"}'],
  ["aws_secret_access_key='AbCd1234'", "aws_secret_access_key='***'"],
  ['api-key=12345678', 'api-key=***'],
  ['export WANDB_API_KEY=abc && ./run', 'export WANDB_API_KEY=*** && ./run'],
  ['PGPASSWORD=x psql', 'PGPASSWORD=*** psql'],
  ['MYSQL_PWD=x mysql', 'MYSQL_PWD=*** mysql'],
  ['DB_PASSWORD: "two words"', 'DB_PASSWORD: "***"'],
  ['HF_TOKEN_PROD=hf', 'HF_TOKEN_PROD=***'],
  ['AccountKey=abc+/==;EndpointSuffix=x', 'AccountKey=***;EndpointSuffix=x'],
  ['a refused password=geheim1', 'a refused password=***'],
  ['DB_PASS=hunter2 ./run', 'DB_PASS=*** ./run'],
  ['["train.py", "--api-key", "sekret1", "--lr", "3"]', '["train.py", "--api-key", "***", "--lr", "3"]'],
  ["['--token','abc']", "['--token','***']"],
  ['password="a\\"b c" next', 'password="***" next'],
  // netrc
  ['machine h login l password p', 'machine h login l password ***'],
  ['machine h\n  login l\n  password p4ss\n', 'machine h\n  login l\n  password ***\n'],
  ['machine h password p login l', 'machine h password *** login l'],
  ['default login me password p4ss', 'default login me password ***'],
  ['machine h login l\n\taccount a password p', 'machine h login l\n\taccount a password ***'],
  ['machine h login l password "p q" rest', 'machine h login l password *** rest'],
  [
    'printf "machine h\\nlogin l\\npassword hunter2\\n" > ~/.netrc',
    'printf "machine h\\nlogin l\\npassword ***\\n" > ~/.netrc',
  ],
  ['echo "machine h login l password hunter2" > ~/.netrc', 'echo "machine h login l password ***" > ~/.netrc'],
  // headers and shapes
  ['Authorization: Bearer abcdef123456', 'Authorization: Bearer ***'],
  ['Authorization: Basic YWRhOnNlY3JldA==', 'Authorization: Basic ***'],
  ['Authorization: Basic YTpi', 'Authorization: Basic ***'],
  ['curl -H "Authorization: abcdef123456" h', 'curl -H "Authorization: ***" h'],
  ['-H "Authorization: Api-Key abc1"', '-H "Authorization: Api-Key ***"'],
  [
    `Authorization: AWS4-HMAC-SHA256 Credential=${amazon}/x, SignedHeaders=host, Signature=${'0f'.repeat(32)}`,
    'Authorization: AWS4-HMAC-SHA256 ***, SignedHeaders=host, Signature=***',
  ],
  ['Cookie: manta-a=0123; b=c', 'Cookie: ***'],
  [`key ${amazon} was refused`, 'key *** was refused'],
  [`echo ${github}`, 'echo ***'],
  [`using ${made('hf_', 34)}.`, 'using ***.'],
  [`using ${made('sk-proj-', 40)}`, 'using ***'],
  [`using ${made('xoxb-', 30)}`, 'using ***'],
  [`using ${made('AIza', 35)}`, 'using ***'],
  [`using ${made('SG.', 22)}.${made('', 40)}`, 'using ***'],
  [`using dop_v1_${'0123456789abcdef'.repeat(4)}`, 'using ***'],
  [
    ['https://hooks.slack.com/services', 'T000/B000/abcdefghijklmnop'].join('/'),
    'https://hooks.slack.com/services/***',
  ],
  [`using ${made('1//0', 40)}`, 'using ***'],
  // kubeconfigs and files of registries
  ['client-key-data: LS0tLS1CRUdJTi', 'client-key-data: ***'],
  ['{"auths":{"r.io":{"auth":"YWRhOnNlY3JldA=="}}}', '{"auths":{"r.io":{"auth":"***"}}}'],
  ['.dockerconfigjson: eyJhdXRocyI6e30=', '.dockerconfigjson: ***'],
  [`got ${web} back`, 'got *** back'],
  [`before\n${key}\nafter`, 'before\n***\nafter'],
  [key.slice(0, 60), '***'],
];

const plain: readonly string[] = [
  'no tokens here',
  'passwords are bad',
  'see https://host/path?limit=5&key=name#part',
  'https://git@github.com/a/b and ssh://ubuntu@10.0.0.1:22 and git+ssh://git@host/x',
  'http://127.0.0.1:8265/api/jobs/?a=b@c',
  'a:b@c',
  'token_limit: 5',
  'max_tokens=512 and --max-tokens 512',
  'tokenizer: bert-base tokenizer=gpt2-large2',
  'token_path: ~/.ray/auth_token',
  'ssh_private_key: ~/.ssh/key.pem',
  'RAY_AUTH_TOKEN_PATH=/home/me/.ray/auth_token',
  'password: $DB_PASSWORD and token=${TOKEN}',
  'curl -fsSL https://host/install.sh | sh',
  'docker run -u 1000:1000 -p 8080:80 -v /a:/b image:1',
  'docker login registry.example',
  'run wandb login to sign in',
  'the api_key is missing',
  'AWS_SECRET_ACCESS_KEY is not set',
  'printf %s hello | grep hell',
  'an authorization token is needed',
  "the file of 'token' is empty",
  'echo hello | grep hell',
  'echo hello | tee log-in.txt',
  'authorization: required',
  'Authorization: Bearer is missing',
  'login(user, key)',
  '["--tokens", "5", "--no-token", "--lr"]',
  'compass: north and --bypass now',
  'login with password is disabled',
  'launchToken: launch-0001-abcd',
  'client-certificate-data: LS0tLS1CRUdJTi',
  'auth: kerberos and auth=password and type: kubernetes.io/dockerconfigjson',
  `image@sha256:${'0123456789abcdef'.repeat(4)}`,
  'raysubmit_ABCDEFGH12345678',
  'secret: true, password: null',
  'token=***',
];

describe('credentials are hidden', () => {
  for (const [text, shown] of hidden) test(JSON.stringify(text), () => assert.equal(redact(text), shown));
});

describe('other text stays as it is', () => {
  for (const text of plain) test(JSON.stringify(text), () => assert.equal(redact(text), text));
});

test('what is hidden once is not changed by being looked at again', () => {
  for (const [, shown] of hidden) assert.equal(redact(shown), shown);
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...hidden.map(([text]) => text), ...plain, ' ', '\n', '"'), { maxLength: 6 }),
      (texts) => {
        const once = redact(texts.join(' '));
        assert.equal(redact(once), once);
      },
    ),
  );
  fc.assert(fc.property(fc.string({ maxLength: 2000 }), (text) => redact(redact(text)) === redact(text)));
});

test('a text of megabytes takes no longer than its length: what took time by the square would not end here', () => {
  const pieces = [
    ...[
      'x',
      'token ',
      'bearer ',
      '://a',
      'a:b@',
      'secret" ',
      ' ',
      '://',
      'token=',
      'token="',
      "password='",
      'token:\\"',
    ],
    ...[
      'curl ',
      'curl -u ',
      'docker login ',
      'docker login -p',
      'wandb login -a ',
      'echo ',
      'echo a | ',
      'printf %s ',
      'wandb login --host ',
      'docker login -p "a;',
      'curl -u "a:',
      '\\\n',
      '/a',
      'api_key ',
      'gh login <<<',
      'login(key="',
      'login(',
      '"--token","',
      'token="\\"',
      'authorization: a ',
      'openssl pass:',
      'auth:',
      'auth="aaaa',
    ],
    ...[
      'login a ',
      'machine a login b password ',
      'cookie: ',
      'eyJaaaaaaaa.',
      '-----BEGIN PRIVATE KEY-----',
      '?sig=',
      '&amp;',
    ],
    ...['-', '_', '$', '{', 'a.', 'AKIA', 'sk-', '\\', '"', '\n', ';', '|'],
  ];
  for (const piece of pieces) assert.ok(redact(piece.repeat(300_000 / piece.length)).length > 0);
  assert.equal(redact(`token${' '.repeat(1_000_000)}`).length, 1_000_005);
});

test('of a value all texts are cleaned, and what stands under the name of a secret', () => {
  assert.deepEqual(
    redactTexts({
      pip: { packages: ['--index-url https://a:b@h/simple', 'torch'] },
      working_dir: 'https://h/x.zip?sig=abc',
      config: { token: 'abc', tokens: 5, token_path: '/etc/x', launchToken: 'l-1' },
      env: [
        { name: 'DB_PASSWORD', value: 'hunter2' },
        { name: 'HOME', value: 'here' },
      ],
      passwords: { password: ['one', 'two', { secret: 'three' }] },
      ok: [true, null, 3],
    }),
    {
      pip: { packages: ['--index-url https://a:***@h/simple', 'torch'] },
      working_dir: 'https://h/x.zip?sig=***',
      config: { token: '***', tokens: 5, token_path: '/etc/x', launchToken: 'l-1' },
      env: [
        { name: 'DB_PASSWORD', value: '***' },
        { name: 'HOME', value: 'here' },
      ],
      passwords: { password: ['***', '***', { secret: '***' }] },
      ok: [true, null, 3],
    },
  );
  let deep: unknown = 'https://a:b@h';
  for (let at = 0; at < 100_000; at++) deep = [deep];
  assert.ok(!JSON.stringify(redactTexts(deep)).includes('a:b@h'));
});

test('names of counts, places and kinds are no names of secrets', () => {
  for (const name of [
    'password',
    'AWS_SECRET_ACCESS_KEY',
    'apiKey',
    'x-api-key',
    'HF_TOKEN',
    'private_key',
    'credentials',
  ])
    assert.ok(isSecretName(name), name);
  for (const name of [
    'tokens',
    'token_limit',
    'token_path',
    'tokenizer',
    'launchToken',
    'secret_name',
    'key',
    'monkey',
  ])
    assert.ok(!isSecretName(name), name);
});

test('what stands under the name of a secret is known wherever else it occurs', () => {
  const file = `setup_commands:
  - export WANDB_API_KEY=s3cr3tkey123456789 && ./login
  - echo 'password: correcthorse' >~/.netrc
  - pip install -i https://ada:pa55word@pypi.example/simple ray
`;
  assert.deepEqual(secretsInText(file, 'cluster-file'), ['s3cr3tkey123456789', 'correcthorse', 'pa55word']);
});

test('of what programs print only values that look like secrets are kept in mind', () => {
  const log =
    'token: expired\npassword=$DB_PASSWORD api_key: http://10.0.0.1:8265 token=10.0.0.7 access_token=ab12cd34ef56';
  assert.deepEqual(secretsInText(log, 'any'), ['ab12cd34ef56']);
});
