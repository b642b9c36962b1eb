import { allOf } from '../../all-of.ts';
import { isDenied, isStatus } from './refused.ts';
import type { GoogleScene } from './scene.ts';

/** What an organization forbids, as far as it can be read: a launch that breaks a policy names it in any case. */
export interface OrgPolicies {
  readonly requiresOsLogin: boolean;
  readonly external: 'allowed' | 'denied' | 'some';
}

interface PolicyAnswer {
  readonly booleanPolicy?: { readonly enforced?: boolean };
  readonly listPolicy?: { readonly allValues?: string; readonly allowedValues?: readonly string[] };
}

export async function lookAtOrgPolicies(scene: GoogleScene): Promise<OrgPolicies> {
  const [osLogin, external] = await allOf([
    effective(scene, 'constraints/compute.requireOsLogin'),
    effective(scene, 'constraints/compute.vmExternalIpAccess'),
  ]);
  const { allValues, allowedValues } = external?.listPolicy ?? {};
  return {
    requiresOsLogin: osLogin?.booleanPolicy?.enforced === true,
    external: allValues === 'DENY' ? 'denied' : allowedValues === undefined ? 'allowed' : 'some',
  };
}

async function effective(scene: GoogleScene, constraint: string): Promise<PolicyAnswer | undefined> {
  try {
    return await scene.ask<PolicyAnswer>({
      call: 'cloudresourcemanager.projects.getEffectiveOrgPolicy',
      method: 'POST',
      url: scene.resourceManager('getEffectiveOrgPolicy'),
      body: { constraint },
      reads: true,
    });
  } catch (error) {
    if (isDenied(error) || isStatus(400, 404, 501)(error)) return undefined;
    throw error;
  }
}
