/** Keys that people have at Google, for machines that take keys from nowhere else. */
import { createHash } from 'node:crypto';
import { type Caller, handlers, type Request } from '../caller.ts';
import { googleError } from '../errors.ts';
import { numberOf } from '../names.ts';
import type { GoogleWorld, OsLoginUser } from '../world.ts';

/** As Google makes it of an address; of a service account it is its number. */
const userName = (email: string): string =>
  email.endsWith('gserviceaccount.com')
    ? `sa_${numberOf(email).slice(0, 21)}`
    : email.replace(/[^a-z0-9]/g, '_').slice(0, 32);

function userOf(world: GoogleWorld, email: string): OsLoginUser {
  const known = world.osLogin.get(email) ?? { email, user: userName(email), keys: new Map<string, string>() };
  world.osLogin.set(email, known);
  return known;
}

/** Everybody looks after their own keys. */
function own({ path }: Request, caller: Caller): OsLoginUser {
  caller.free();
  const email = path.get('user')!;
  if (email !== caller.bearer.email && email !== 'me')
    throw googleError(
      'forbidden',
      `Permission denied on '${email}': the caller may see their own login profile alone.`,
    );
  return userOf(caller.world, caller.bearer.email);
}

export function writeProfile({ email, user, keys }: OsLoginUser): object {
  const id = String(10 ** 9 + (Number(numberOf(email).slice(-9)) % 10 ** 9));
  return {
    name: numberOf(email),
    posixAccounts: [
      {
        ...{ primary: true, username: user, uid: id, gid: id, homeDirectory: `/home/${user}`, shell: '/bin/bash' },
        ...{ operatingSystemType: 'LINUX', accountId: email },
      },
    ],
    sshPublicKeys: Object.fromEntries(
      [...keys].map(([fingerprint, key]) => [
        fingerprint,
        { key, fingerprint, name: `users/${email}/sshPublicKeys/${fingerprint}` },
      ]),
    ),
  };
}

export const osLoginHandlers = handlers({
  'users.getLoginProfile': (request: Request, caller) => writeProfile(own(request, caller)),

  'users.importSshPublicKey': (request: Request<{ key?: string }>, caller) => {
    const user = own(request, caller);
    const { key = '' } = request.body;
    if (!/^(?:ssh|ecdsa)-\S+ \S+/.test(key)) throw googleError('invalid', 'The SSH public key is not valid.');
    user.keys.set(createHash('sha256').update(key).digest('hex'), key);
    return { loginProfile: writeProfile(user), details: '' };
  },

  'sshPublicKeys.delete': (request: Request, caller) => {
    const user = own(request, caller);
    if (!user.keys.delete(request.path.get('sshPublicKey')!))
      throw googleError('notFound', 'The SSH public key was not found.');
    return {};
  },
});
