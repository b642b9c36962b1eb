import { mapOf } from '../../../core/spec/plain.ts';
import type { LaunchedType } from './file-types.ts';
import { isExternal } from './network.ts';
import type { OrgPolicies } from './org-policies.ts';
import type { GoogleScene } from './scene.ts';

/** What a reader of the plan should know beside what was found. */
export function fileWarnings(
  scene: GoogleScene,
  types: readonly LaunchedType[],
  policies: OrgPolicies,
): readonly string[] {
  const closed = types.filter(
    ({ config, isSlice }) => isSlice && mapOf(config.networkConfig).enableExternalIps === false,
  );
  return [
    ...(closed.length > 0
      ? [
          `slices of ${closed.map(({ name }) => name).join(', ')} have no external addresses: their setup commands reach the internet only through Cloud NAT`,
        ]
      : []),
    ...(policies.external === 'some' && isExternal(scene)
      ? [
          'the organization policy constraints/compute.vmExternalIpAccess allows external addresses to some instances only: those of this cluster may be refused',
        ]
      : []),
  ];
}
