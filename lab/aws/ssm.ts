import type { Parameter } from '@aws-sdk/client-ssm';
import type { Caller } from './caller.ts';
import { awsError } from './errors.ts';
import type { SsmHandlers } from './handlers.ts';

const parameterArn = ({ region, account }: Caller, name: string): string =>
  name.startsWith('/aws/service/')
    ? `arn:aws:ssm:${region}::parameter${name}`
    : `arn:aws:ssm:${region}:${account}:parameter/${name.replace(/^\//, '')}`;

function find(caller: Caller, name: string): Parameter | undefined {
  caller.may(parameterArn(caller, name));
  const value = caller.world.parameters.get(`${caller.region}${name}`);
  return value === undefined
    ? undefined
    : {
        Name: name,
        Value: value,
        Type: 'String',
        Version: 1,
        ARN: parameterArn(caller, name),
        DataType: 'aws:ec2:image',
        LastModifiedDate: new Date(Date.UTC(2026, 10, 3)),
      };
}

export const ssmHandlers: SsmHandlers = {
  GetParameter({ Name: name = '' }, caller) {
    const found = find(caller, name);
    if (found === undefined) throw awsError('ParameterNotFound', '');
    return { Parameter: found };
  },

  GetParameters({ Names: names = [] }, caller) {
    const found = names.flatMap((name) => find(caller, name) ?? []);
    return { Parameters: found, InvalidParameters: names.filter((name) => !found.some((each) => each.Name === name)) };
  },

  GetParametersByPath(request, caller) {
    const path = (request.Path ?? '').replace(/\/$/, '');
    caller.may(parameterArn(caller, path));
    const all = [...caller.world.parameters.keys()]
      .filter((key) => key.startsWith(`${caller.region}${path}/`))
      .map((key) => key.slice(caller.region.length))
      .filter((name) => request.Recursive || !name.slice(path.length + 1).includes('/'));
    const start = Number(request.NextToken ?? 0);
    const end = start + Math.min(request.MaxResults ?? 10, 10);
    return {
      Parameters: all.slice(start, end).map((name) => find(caller, name)!),
      NextToken: end < all.length ? String(end) : undefined,
    };
  },
};
