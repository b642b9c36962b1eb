import { CreateServiceLinkedRoleCommand, GetRoleCommand } from '@aws-sdk/client-iam';
import { awsErrors } from '../errors.ts';
import type { FileType } from './file-types.ts';
import { isCode, isDenied, spotRoleStep } from './refused.ts';
import type { Scene, Told } from './scene.ts';

export const spotService = 'spot.amazonaws.com';
export const spotRole = 'AWSServiceRoleForEC2Spot';

/** The role by which EC2 acts for an account on the spot market. */
export interface SpotRoleLook extends Told {
  readonly isMissing: boolean;
}

export async function lookForSpotRole(scene: Scene, types: readonly FileType[]): Promise<SpotRoleLook> {
  if (!types.some(({ usesSpot }) => usesSpot)) return { isMissing: false, steps: [], warnings: [] };
  const what = 'role for spot instances';
  try {
    await scene.ask('iam:GetRole', (options) =>
      scene.aws.iam.send(new GetRoleCommand({ RoleName: spotRole }), options),
    );
    return { isMissing: false, steps: [{ what, action: 'found', id: spotRole }], warnings: [] };
  } catch (error) {
    if (isCode('NoSuchEntity')(error))
      return { isMissing: true, steps: [{ what, action: 'create', id: spotRole }], warnings: [] };
    // An account that has used spot has it, and many who launch there may not look.
    if (!isDenied(error)) throw error;
    const warning = `cannot tell whether the account has ${spotRole}, which spot instances need: you lack the permission iam:GetRole`;
    return { isMissing: false, steps: [], warnings: [warning] };
  }
}

export async function makeSpotRole(scene: Scene, { isMissing }: SpotRoleLook): Promise<void> {
  if (!isMissing) return;
  try {
    await scene.ask('iam:CreateServiceLinkedRole', (options) =>
      scene.aws.iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: spotService }), options),
    );
  } catch (error) {
    // So IAM says that there is one.
    if (isCode('InvalidInput')(error)) return;
    if (!isDenied(error)) throw error;
    throw awsErrors.AccountNotReady(
      {
        call: 'iam:CreateServiceLinkedRole',
        detail: `it has no ${spotRole}, which spot instances need, and you may not create it`,
        step: spotRoleStep,
      },
      error,
    );
  }
}
