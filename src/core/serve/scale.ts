import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, textAt } from '../kube/object.ts';
import { serveErrors } from './errors.ts';
import { appName } from './progress.ts';

export interface Scaling {
  readonly application: string;
  readonly deployment: string;
  readonly replicas: number;
}

/** A config with another number of replicas of one deployment. `details`: what Serve says of itself, which knows all names. */
export function scaled(
  config: Json,
  details: Json | undefined,
  { application, deployment, replicas }: Scaling,
): JsonMap {
  const applications = listAt(config, 'applications');
  const running = new Map(entriesAt(details, 'applications'));
  const names = [...new Set([...applications.map(appName), ...running.keys()])];
  if (!names.includes(application))
    throw serveErrors.NoDeployment({ application, deployment: undefined, known: names });
  const app = applications.find((each) => appName(each) === application);
  if (!isMap(app)) throw serveErrors.NotDeclared({ application });
  const known = entriesAt(running.get(application), 'deployments').map(([name]) => name);
  const written = listAt(app, 'deployments');
  const isNamed = (each: Json): boolean => textAt(each, 'name') === deployment;
  if (known.length > 0 && !known.includes(deployment))
    throw serveErrors.NoDeployment({ application, deployment, known });
  const there = written.find(isNamed);
  if (dig(there, 'num_replicas') === 'auto' || isMap(dig(there, 'autoscaling_config')))
    throw serveErrors.Autoscaled({ application, deployment });
  const deployments =
    there === undefined
      ? [...written, { name: deployment, num_replicas: replicas }]
      : written.map((each) => (isMap(each) && isNamed(each) ? { ...each, num_replicas: replicas } : each));
  return {
    ...(isMap(config) ? config : {}),
    applications: applications.map((each) => (each === app ? { ...app, deployments } : each)),
  };
}
