import type { Bearer } from './access/tokens.ts';
import { errorInfo, type GoogleError, googleError, serviceDisabled } from './errors.ts';
import type { Project } from './project.ts';
import type { GoogleWorld } from './world.ts';

/** What a request says, held to its document. */
export interface Request<Body = unknown> {
  /** What varies in its path: `zone`, `instance`. */
  readonly path: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string | number | boolean>;
  readonly body: Body;
}

/** What an API does: a function for each method, by the name that the log has for it. */
export type Handlers = ReadonlyMap<string, (request: Request, caller: Caller) => unknown>;

/** What a method needs as a type of its body; the document has held it to that. */
export const handlers = (
  all: Readonly<Record<string, (request: Request<never>, caller: Caller) => unknown>>,
): Handlers => new Map(Object.entries(all)) as unknown as Handlers;

export const textAt = (values: ReadonlyMap<string, unknown>, name: string): string | undefined =>
  values.get(name) as string | undefined;

/** Scopes that let a token do something with an API, beside the one for all of them. */
const scopes: Readonly<Record<string, readonly string[]>> = {
  compute: ['https://www.googleapis.com/auth/compute'],
  tpu: [],
  iam: ['https://www.googleapis.com/auth/iam'],
  cloudresourcemanager: ['https://www.googleapis.com/auth/cloudplatformprojects'],
  oslogin: ['https://www.googleapis.com/auth/compute'],
};
const readOnly: Readonly<Record<string, readonly string[]>> = {
  compute: ['https://www.googleapis.com/auth/compute.readonly'],
  cloudresourcemanager: ['https://www.googleapis.com/auth/cloud-platform.read-only'],
};

/** One call on its way through a handler: who makes it, for which project, and what they may do there. */
export class Caller {
  readonly world: GoogleWorld;
  readonly bearer: Bearer;
  /** `compute`, `tpu`, without its version. */
  readonly api: string;
  /** As the log has it: `instances.insert`. */
  readonly name: string;
  readonly #project: Project | undefined;
  readonly #named: string;
  #judged = false;

  constructor(
    world: GoogleWorld,
    bearer: Bearer,
    about: { readonly api: string; readonly name: string; readonly project: string; readonly reads: boolean },
  ) {
    this.world = world;
    this.bearer = bearer;
    this.api = about.api;
    this.name = about.name;
    this.#named = about.project;
    this.#project = world.project(about.project);
    if (this.#project?.disabled.has(this.api)) throw serviceDisabled(this.api, this.#project.number);
    const good = ['https://www.googleapis.com/auth/cloud-platform', ...(scopes[this.api] ?? [])];
    if (about.reads) good.push(...(readOnly[this.api] ?? []));
    if (!bearer.scopes.some((scope) => good.includes(scope)))
      throw googleError(
        'insufficientPermissions',
        'Request had insufficient authentication scopes.',
        errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT', 'googleapis.com', { service: `${this.api}.googleapis.com` }),
      );
  }

  /** Of one that does not exist nobody is told more than that they may not. */
  get project(): Project {
    if (this.#project === undefined) throw this.#noProject();
    return this.#project;
  }

  get projectId(): string {
    return this.project.id;
  }

  /** Throws where no role of the caller has the permission; `resource` is what it is about, from `projects/` on. */
  may(permission: string, resource = `projects/${this.#named}`): void {
    this.#judged = true;
    if (!this.allows(permission)) throw this.#denied(permission, resource);
  }

  allows(permission: string): boolean {
    return this.project.allows(this.bearer.email, permission, this.world.cloud.settings.role_lag_s);
  }

  /** What everybody may. */
  free(): void {
    this.#judged = true;
  }

  /** Holds handlers to asking before they answer. */
  close(): void {
    if (!this.#judged) throw new Error(`${this.name} does not ask whether it is allowed`);
  }

  #noProject(): GoogleError {
    if (this.api === 'compute') return googleError('notFound', `The resource 'projects/${this.#named}' was not found`);
    return this.#denied(`${this.api}.projects.get`, `projects/${this.#named}`);
  }

  #denied(permission: string, resource: string): GoogleError {
    const info = errorInfo('IAM_PERMISSION_DENIED', `${this.api}.googleapis.com`, { permission, resource });
    switch (this.api) {
      case 'compute':
        return googleError('forbidden', `Required '${permission}' permission for '${resource}'`);
      case 'cloudresourcemanager':
        return googleError('forbidden', 'The caller does not have permission', info);
      case 'iam':
        return googleError('forbidden', `Permission '${permission}' denied on resource (or it may not exist).`, info);
      default:
        return googleError('forbidden', `Permission '${permission}' denied on '${resource}'`, info);
    }
  }
}
