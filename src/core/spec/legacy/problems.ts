import { error, warning } from '../problems.ts';

/** What can be wrong with a file for an earlier Ray version. */
export const legacyProblems = {
  LegacyKey: warning<{ key: string; modern: string }>('LEGACY_KEY', {
    title: 'a key from an earlier Ray version',
    meaning: 'Manta reads the key as that version did. Current Ray rejects it.',
    hint: '`manta config convert FILE` writes the modern form',
    message: (e) => `'${e.key}' is from an earlier Ray version; use ${e.modern}`,
  }),
  LegacyIgnored: warning<{ key: string; why: string }>('LEGACY_IGNORED', {
    title: 'a key from an earlier Ray version without effect',
    meaning: 'The key no longer has an effect, or has none together with the other keys of the file.',
    hint: 'remove the key; `manta config convert FILE` does it',
    message: (e) => `'${e.key}' has no effect: ${e.why}`,
  }),
  NotConvertible: error<{ key: string; why: string }>('NOT_CONVERTIBLE', {
    title: 'a legacy file that cannot be converted automatically',
    meaning: 'Manta understands the file, but cannot write its modern form by editing the text.',
    hint: 'make the change by hand; `manta config show FILE` shows what the file means',
    message: (e) => `'${e.key}' cannot be converted: ${e.why}`,
  }),
};
