import fc from 'fast-check';

/** Property tests try the same values in every run, so that a failure is there to be looked at; another set by MANTA_SEED. */
fc.configureGlobal({ seed: Number(process.env['MANTA_SEED'] ?? 20_261_115) });

export { fc };
