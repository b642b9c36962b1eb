import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseDotEnv } from '../../../src/core/spec/env.ts';
import { aws, codesOf, open, specOf } from './cluster-text.ts';

describe('placeholders', () => {
  test('are listed each with its position, also inside of a command', () => {
    const text = `cluster_name: rep-XXX-CUSTOMIZE-THIS-XXX
provider: {type: gcp, region: us-west1, project_id: <project-id>, availability_zone: us-west1-b}
setup_commands:
  - |
    git clone \\
      -b {{ branch }} x || true
`;
    assert.deepEqual(codesOf(text), ['1:19 PLACEHOLDER', '2:53 PLACEHOLDER', '6:10 PLACEHOLDER']);
    assert.ok(open(text).spec, 'the rest of the file is understood');
  });

  test('in the place of a number leave nothing to understand', () => {
    const file = open(aws("max_workers: '{{ N }}'\nidle_timeout_minutes: {minutes}\n"));
    assert.deepEqual(
      file.problems.map((problem) => problem.code),
      ['MANTA_SPEC_PLACEHOLDER', 'MANTA_SPEC_PLACEHOLDER'],
    );
    assert.equal(file.spec, undefined);
  });

  test("are not seen in what a shell or docker's --format reads", () => {
    assert.deepEqual(
      codesOf(aws(`setup_commands: ["docker ps --format '{{.Names}}' && docker inspect -f '{{json .State}}' x"]`)),
      [],
    );
    assert.deepEqual(codesOf(aws('setup_commands: ["cat < in > out", "echo <(ls)"]')), []);
  });

  test('of a text that is not YAML yet make it a template, each one listed', () => {
    const text = 'cluster_name: {{ name }}\n{% if docker %}\ndocker: {image: x}\n{% endif %}\n';
    assert.deepEqual(codesOf(text).slice(1), ['1:15 PLACEHOLDER', '2:1 PLACEHOLDER', '4:1 PLACEHOLDER']);
    assert.equal(open(text).problems[0]?.code, 'MANTA_SPEC_TEMPLATE');
  });

  test('do not make a template of a broken file without any', () => {
    assert.deepEqual(
      open('a: [1\nb: 2').problems.map((problem) => problem.code),
      ['MANTA_SPEC_YAML_SYNTAX'],
    );
  });
});

describe('variables', () => {
  test('are shell text in commands, mounts and run options', () => {
    const text = aws(
      'setup_commands: [echo $HOME]\nfile_mounts: {/a: $HOME/x}\ndocker: {image: i, container_name: c, run_options: [-v $HOME/a:/a]}\nauth: {ssh_proxy_command: ssh $JUMP}',
    );
    assert.deepEqual(codesOf(text), []);
    assert.deepEqual(specOf(text).files.mounts, [{ remote: '/a', local: '$HOME/x' }]);
  });

  test('in any other value are a warning', () => {
    assert.deepEqual(codesOf(aws('auth: {ssh_user: $USER}')), ['3:18 VARIABLE']);
  });

  test('in the place of a number are an error that shows how to write it', () => {
    const [problem] = open(aws('max_workers: $N')).problems;
    assert.equal(problem?.code, 'MANTA_SPEC_WRONG_TYPE');
    assert.match(problem.hint ?? '', /\$\{env:N\}/);
  });

  test('of a launch template version are none', () => {
    assert.deepEqual(
      codesOf(
        aws(
          'available_node_types: {a: {resources: {}, node_config: {LaunchTemplate: {Version: $Latest}}}}\nhead_node_type: a',
        ),
      ),
      [],
    );
  });
});

describe('${env:NAME}', () => {
  const text = aws(
    'max_workers: ${env:WORKERS}\nauth: {ssh_user: "${env:ME}"}\nsetup_commands: ["echo ${env:ME}-${env:ME}"]\n',
  );

  test('is filled in, as a number where a number belongs', () => {
    const spec = specOf(text, { WORKERS: '7', ME: '12' });
    assert.equal(spec.maxWorkers, 7);
    assert.equal(spec.auth.user, '12');
    assert.equal(spec.head.setup[0], 'echo 12-12');
  });

  test('that is unset is an error where it stands', () => {
    assert.deepEqual(codesOf(text, { ME: 'x' }), ['3:14 ENV_UNSET']);
    assert.deepEqual(
      codesOf(text, { WORKERS: '1' }).map((code) => code.split(' ')[1]),
      ['ENV_UNSET', 'ENV_UNSET', 'ENV_UNSET'],
    );
  });

  test('without a proper name is an error', () => {
    assert.deepEqual(codesOf(aws("auth: {ssh_user: '${env:a b}'}")), ['3:18 ENV_SYNTAX']);
  });

  test('values may come from a .env file', () => {
    assert.deepEqual(parseDotEnv('# c\nA=1\nexport B = "two words" # c\nC=\'$x\'\nD=bare # c\nbad line\r\nE=\n'), {
      A: '1',
      B: 'two words',
      C: '$x',
      D: 'bare',
      E: '',
    });
  });
});
