import { type AwsService, readModel } from '../../scripts/botocore-models.ts';

/** One shape of an API model: a type of values, named. */
export interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, Member>>;
  readonly member?: Member;
  readonly key?: Member;
  readonly value?: Member;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly flattened?: boolean;
  readonly timestampFormat?: string;
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
}

export interface Member {
  readonly shape: string;
  readonly locationName?: string;
  readonly queryName?: string;
  readonly flattened?: boolean;
}

export interface Operation {
  readonly name: string;
  readonly input?: { readonly shape: string };
  readonly output?: { readonly shape: string; readonly resultWrapper?: string };
}

export interface Model {
  readonly metadata: {
    readonly protocol: 'ec2' | 'query' | 'json';
    readonly xmlNamespace?: string;
    readonly targetPrefix?: string;
    readonly apiVersion: string;
  };
  readonly operations: Readonly<Record<string, Operation>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

const loaded = new Map<AwsService, Model>();

/** The model by which requests are checked and answers written. */
export function modelOf(service: AwsService): Model {
  let model = loaded.get(service);
  if (model === undefined) loaded.set(service, (model = JSON.parse(readModel(service)) as Model));
  return model;
}
