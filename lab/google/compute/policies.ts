import type { Caller } from '../caller.ts';
import { type GoogleError, googleError } from '../errors.ts';
import type { OperationError } from '../operations.ts';
import type { LaunchPlan } from './launch-plan.ts';

/** A policy that is in force allows what it names, and nothing where it names nothing. */
const allowed = (caller: Caller, constraint: string, value: string): boolean => {
  const values = caller.project.policies.get(constraint);
  return values === undefined || values.includes(value);
};

const violated = (caller: Caller, constraint: string, why: string): string =>
  `Constraint constraints/${constraint} violated for project ${caller.project.number}. ${why}`;

/** Most policies are looked at before anything begins. */
export function checkPolicy(caller: Caller, constraint: string, value: string, why: () => string): void {
  if (!allowed(caller, constraint, value)) throw refusal(caller, constraint, why());
}

const refusal = (caller: Caller, constraint: string, why: string): GoogleError =>
  googleError(
    'conditionNotMet',
    `${violated(caller, constraint, why)} See https://cloud.google.com/resource-manager/docs/organization-policy/org-policy-constraints for more information.`,
  );

export function checkPolicies(caller: Caller, { body, metadata }: LaunchPlan): void {
  if (body.shieldedInstanceConfig?.enableSecureBoot !== true)
    checkPolicy(
      caller,
      'compute.requireShieldedVm',
      'off',
      () => "Secure Boot is not enabled in the 'shielded_instance_config' field.",
    );
  if (metadata.get('enable-oslogin')?.toUpperCase() === 'FALSE')
    checkPolicy(
      caller,
      'compute.requireOsLogin',
      'off',
      () => "The metadata entry 'enable-oslogin' must not be FALSE.",
    );
}

/** Outside addresses are looked at when the machine is made: this is an error of the operation. */
export function outsideRefusal(caller: Caller, outside: boolean, path: string): OperationError | undefined {
  if (!outside || allowed(caller, 'compute.vmExternalIpAccess', path)) return undefined;
  const why = `Add instance ${path} to the constraint to use external IP with it.`;
  return { code: 'CONDITION_NOT_MET', message: violated(caller, 'compute.vmExternalIpAccess', why) };
}
