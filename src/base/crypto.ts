/** Node's own, loaded by the first who needs it: that takes a tenth of a short command's time. */
export const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto');
