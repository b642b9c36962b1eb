import { error, warning } from '../problems.ts';

/** What a file of an earlier Ray version shows. */
export const legacyProblems = {
  LegacyKey: warning<{ key: string; modern: string }>('LEGACY_KEY', {
    title: 'a key of an earlier Ray version',
    meaning: 'Manta reads the key as it was meant in its day. Ray of today refuses it.',
    hint: '`manta config convert FILE` writes the modern form',
    message: (e) => `'${e.key}' is a key of an earlier Ray version; today it is ${e.modern}`,
  }),
  LegacyIgnored: warning<{ key: string; why: string }>('LEGACY_IGNORED', {
    title: 'a key of an earlier Ray version without effect',
    meaning: 'The key has no meaning any more, or none beside the other keys of the file.',
    hint: 'remove the key; `manta config convert FILE` does it',
    message: (e) => `'${e.key}' has no effect: ${e.why}`,
  }),
  NotConvertible: error<{ key: string; why: string }>('NOT_CONVERTIBLE', {
    title: 'a legacy file that cannot be converted by itself',
    meaning: 'The file resolves, but its modern form cannot be written by editing the text.',
    hint: 'make the change by hand; `manta config show FILE` shows what the file means',
    message: (e) => `'${e.key}' cannot be converted: ${e.why}`,
  }),
};
