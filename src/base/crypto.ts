import type * as nodeCrypto from 'node:crypto';

/** Node's own, loaded by the first who needs it: that takes a tenth of a short command's time. */
export const crypto = (): typeof nodeCrypto => process.getBuiltinModule('node:crypto');
