/** Whether this is `npm run soak -- NAME`, which also runs what only repeats other proofs. */
export const inSoak = (name: string): boolean => process.env['MANTA_SOAK'] === name;
