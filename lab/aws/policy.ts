/** IAM policies: whether a set of documents lets a caller do something to something. */
import { awsError } from './errors.ts';

/** What conditions can ask about, such as `aws:RequestTag/team`. Keys are lower case but for the tag's own. */
export type Conditions = Readonly<Record<string, readonly string[]>>;

export interface Request {
  readonly action: string;
  /** An ARN, or `*` for what is about nothing in particular. */
  readonly resource: string;
  readonly conditions: Conditions;
}

type OneOrMore = string | readonly string[];

export interface Statement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  readonly Action?: OneOrMore;
  readonly NotAction?: OneOrMore;
  readonly Resource?: OneOrMore;
  readonly NotResource?: OneOrMore;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, OneOrMore>>>>;
}

export interface Policy {
  readonly Version?: string;
  readonly Statement: Statement | readonly Statement[];
}

export type Verdict = 'allowed' | 'denied' | 'not-allowed';

const list = (value: OneOrMore | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;

const wild = (pattern: string, flags: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    flags,
  );
const like = (pattern: string, text: string, flags = 's'): boolean => wild(pattern, flags).test(text);

const isFalse = (wanted: string): boolean => wanted.toLowerCase() === 'false';
const operators: Readonly<Record<string, (wanted: string, given: string) => boolean>> = {
  StringEquals: (wanted, given) => wanted === given,
  StringEqualsIgnoreCase: (wanted, given) => wanted.toLowerCase() === given.toLowerCase(),
  StringLike: (wanted, given) => like(wanted, given),
  ArnEquals: (wanted, given) => like(wanted, given),
  ArnLike: (wanted, given) => like(wanted, given),
  Bool: (wanted, given) => wanted.toLowerCase() === given.toLowerCase(),
  NumericEquals: (wanted, given) => Number(given) === Number(wanted),
  NumericLessThan: (wanted, given) => Number(given) < Number(wanted),
  NumericLessThanEquals: (wanted, given) => Number(given) <= Number(wanted),
  NumericGreaterThan: (wanted, given) => Number(given) > Number(wanted),
  NumericGreaterThanEquals: (wanted, given) => Number(given) >= Number(wanted),
  IpAddress: () => true,
  DateLessThan: (wanted, given) => Date.parse(given) < Date.parse(wanted),
  DateGreaterThan: (wanted, given) => Date.parse(given) > Date.parse(wanted),
};

function conditionHolds(operator: string, key: string, wanted: readonly string[], conditions: Conditions): boolean {
  const given = valuesOf(conditions, key);
  const [, set, name = '', ifExists] = /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  if (name === 'Null') return (given === undefined) !== isFalse(wanted[0] ?? 'true');
  if (ifExists && given === undefined) return true;
  const not = /^(String|Arn|Numeric)Not(\w+)$/.exec(name);
  const test = operators[not ? `${not[1]}${not[2]}` : name];
  if (test === undefined) throw awsError('MalformedPolicyDocument', `Condition operator ${operator} is not known`);
  const fits = (value: string): boolean => wanted.some((each) => test(each, value)) !== Boolean(not);
  if (set === 'ForAllValues') return (given ?? []).every(fits);
  if (given === undefined) return Boolean(not);
  return given.some(fits);
}

/** The part before a slash is read without regard to case, the name of a tag is not. */
function valuesOf(conditions: Conditions, key: string): readonly string[] | undefined {
  const [head = '', ...tag] = key.split('/');
  const wanted = [head.toLowerCase(), ...tag].join('/');
  return Object.entries(conditions).find(([each]) => {
    const [own = '', ...name] = each.split('/');
    return [own.toLowerCase(), ...name].join('/') === wanted;
  })?.[1];
}

function concerns(statement: Statement, { action, resource, conditions }: Request): boolean {
  const named = (patterns: OneOrMore | undefined) => list(patterns).some((each) => like(each, action, 'is'));
  if (statement.Action === undefined ? named(statement.NotAction) : !named(statement.Action)) return false;
  const on = (patterns: OneOrMore | undefined) => list(patterns).some((each) => each === '*' || like(each, resource));
  if (statement.Resource === undefined ? on(statement.NotResource) : !on(statement.Resource)) return false;
  return Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => conditionHolds(operator, key, list(wanted), conditions)),
  );
}

/** What one says no to, no other can allow. */
export function judge(policies: readonly Policy[], request: Request): Verdict {
  const all = policies.flatMap(({ Statement }) => (Array.isArray(Statement) ? Statement : [Statement]) as Statement[]);
  const found = all.filter((statement) => concerns(statement, request));
  if (found.some(({ Effect }) => Effect === 'Deny')) return 'denied';
  return found.length > 0 ? 'allowed' : 'not-allowed';
}

/** A document out of its text, checked as far as IAM does when it is stored. */
export function readPolicy(text: string): Policy {
  const malformed = (why: string) => awsError('MalformedPolicyDocument', why);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw malformed('Syntax errors in policy.');
  }
  const policy = given as Policy;
  const statements = (Array.isArray(policy?.Statement) ? policy.Statement : [policy?.Statement]) as Statement[];
  for (const statement of statements) {
    if (typeof statement !== 'object' || statement === null) throw malformed('Syntax errors in policy.');
    if (statement.Effect !== 'Allow' && statement.Effect !== 'Deny') throw malformed('Syntax errors in policy.');
    if (statement.Action === undefined && statement.NotAction === undefined)
      throw malformed('Policy statement must contain actions.');
  }
  return policy;
}

const allow = (...actions: readonly string[]): Policy => ({
  Version: '2012-10-17',
  Statement: { Effect: 'Allow', Action: actions, Resource: '*' },
});

/** Policies that AWS itself wrote, by the last part of their ARN. */
export const managedPolicies: ReadonlyMap<string, Policy> = new Map([
  ['AdministratorAccess', allow('*')],
  [
    'AmazonEC2FullAccess',
    {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: ['ec2:*', 'elasticloadbalancing:*', 'cloudwatch:*', 'autoscaling:*'],
          Resource: '*',
        },
        {
          Effect: 'Allow',
          Action: 'iam:CreateServiceLinkedRole',
          Resource: '*',
          Condition: { StringEquals: { 'iam:AWSServiceName': ['spot.amazonaws.com', 'ec2scheduled.amazonaws.com'] } },
        },
      ],
    },
  ],
  ['AmazonEC2ReadOnlyAccess', allow('ec2:Describe*', 'cloudwatch:Describe*')],
  ['AmazonS3FullAccess', allow('s3:*', 's3-object-lambda:*')],
  ['AmazonS3ReadOnlyAccess', allow('s3:Get*', 's3:List*', 's3:Describe*')],
  ['AmazonSSMManagedInstanceCore', allow('ssm:UpdateInstanceInformation', 'ssmmessages:*', 'ec2messages:*')],
  ['AmazonSSMReadOnlyAccess', allow('ssm:Describe*', 'ssm:Get*', 'ssm:List*')],
  ['AmazonEC2ContainerRegistryReadOnly', allow('ecr:GetAuthorizationToken', 'ecr:BatchGetImage')],
  ['CloudWatchAgentServerPolicy', allow('cloudwatch:PutMetricData', 'logs:PutLogEvents')],
  ['IAMFullAccess', allow('iam:*')],
  ['ReadOnlyAccess', allow('*:Describe*', '*:Get*', '*:List*')],
]);
