import { rayVersion } from '../../ray-version.ts';
import { warning } from '../problems.ts';

/** What is allowed and nearly always hurts later. */
export const trapProblems = {
  SpotHead: warning<{ type: string }>('SPOT_HEAD', {
    title: 'the head on the spot market',
    meaning: 'If the provider reclaims the head, the whole cluster is lost.',
    hint: 'give the head its own on-demand node type',
    message: (e) =>
      `the head's node type '${e.type}' is on the spot market: if it is reclaimed, the whole cluster is lost`,
  }),
  OldWheel: warning<{ wheel: string; why: string }>('OLD_WHEEL', {
    title: 'a Ray wheel that can no longer be installed',
    meaning:
      "A nightly wheel's URL disappears when Ray's version changes, and current Ray has no wheels for Python 3.9 or older.",
    hint: `install a release: pip install -U 'ray[default]==${rayVersion}'`,
    message: (e) => `${e.wheel}: ${e.why}`,
  }),
  RedisFlags: warning<{ flag: string; now: string }>('REDIS_FLAGS', {
    title: 'options that `ray start` no longer has',
    meaning: '`--redis-port` and `--redis-address` were renamed in Ray 1.0 and removed in 2.0.',
    hint: 'write --port and --address',
    message: (e) => `\`ray start\` no longer has ${e.flag}`,
    advise: (e) => `write ${e.now}`,
  }),
  NoRayStart: warning<{ key: string }>('NO_RAY_START', {
    title: 'start commands that do not start Ray',
    meaning: 'None of the commands that should start Ray runs `ray start`.',
    hint: "add `ray start …`, or remove the key to use the provider's default",
    message: (e) => `no command in '${e.key}' runs \`ray start\``,
  }),
  TypeSetupReplaces: warning<{ type: string; count: number }>('TYPE_SETUP_REPLACES', {
    title: "a node type's setup commands replace all others",
    meaning:
      "worker_setup_commands of a node type replace both the cluster's worker_setup_commands and its setup_commands.",
    hint: 'repeat there what the workers of this type need',
    message: (e) =>
      `node type '${e.type}' has its own worker_setup_commands, so the ${e.count} commands in setup_commands and worker_setup_commands do not run on its workers`,
  }),
  NotRepeatable: warning<{ command: string }>('NOT_REPEATABLE', {
    title: 'a setup command that fails the second time',
    meaning: 'Setup commands run again when the file changes. `git clone` fails if its directory already exists.',
    hint: 'write `test -e DIR || git clone …`',
    message: (e) => `\`${e.command}\` fails when setup runs again, because the directory already exists`,
  }),
  ProviderKeyMissing: warning<{ provider: string; key: string }>('PROVIDER_KEY_MISSING', {
    title: 'a key that the provider needs is missing',
    meaning: 'The file is valid, but the launch will fail because the provider needs this key.',
    hint: 'add the key under provider',
    message: (e) => `provider.${e.key} is not set, but ${e.provider} needs it to launch instances`,
  }),
};
