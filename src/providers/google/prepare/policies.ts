import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import type { CloudPolicies } from '../../clouds.ts';
import { hasAccount, headOf, typesInFile } from './file-types.ts';
import { headPermissions, userPermissions } from './permissions.ts';

/** A role as `gcloud iam roles create ID --project PROJECT --file FILE` takes it. */
const role = (title: string, description: string, includedPermissions: readonly string[]): string =>
  JSON.stringify({ title, description, stage: 'GA', includedPermissions }, undefined, 2);

/** What head and user must be allowed to do for this file, whichever project it is in. */
export function policies(spec: ClusterSpec): CloudPolicies {
  const types = typesInFile(spec);
  return {
    head: role(`Manta head of ${spec.name}`, 'What the head of the Ray cluster calls', headPermissions(spec, types)),
    user: role(
      `Manta user of ${spec.name}`,
      'What up, status and down of the Ray cluster call',
      userPermissions(types, !hasAccount(headOf(types).config)),
    ),
  };
}
