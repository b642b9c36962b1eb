import type * as ec2 from '@aws-sdk/client-ec2';
import type * as iam from '@aws-sdk/client-iam';
import type * as pricing from '@aws-sdk/client-pricing';
import type * as ssm from '@aws-sdk/client-ssm';
import type * as sts from '@aws-sdk/client-sts';
import type { Caller } from './caller.ts';

type Command<Module, Name extends string> = Module[`${Name}Command` & keyof Module] extends new (
  ...args: never[]
) => infer Made
  ? Made
  : never;
type Input<Module, Name extends string> = Command<Module, Name> extends { input: infer Given } ? Given : never;
type Output<Module, Name extends string> =
  Command<Module, Name> extends {
    resolveMiddleware(...args: never[]): (...args: never[]) => Promise<{ output: infer Answer }>;
  }
    ? Omit<Answer & object, '$metadata'>
    : never;
type Names<Module> = keyof Module extends infer Key ? (Key extends `${infer Name}Command` ? Name : never) : never;

/**
 * What a service does: a function for each operation, with the types that the official client has for it. Requests have
 * been checked by the model; a handler checks what the model cannot, asks whether the caller may, and then acts.
 */
type Handlers<Module> = {
  readonly [Name in Names<Module>]?: (request: Input<Module, Name>, caller: Caller) => Output<Module, Name>;
};

export type Ec2Handlers = Handlers<typeof ec2>;
export type IamHandlers = Handlers<typeof iam>;
export type StsHandlers = Handlers<typeof sts>;
export type SsmHandlers = Handlers<typeof ssm>;
export type PricingHandlers = Handlers<typeof pricing>;
