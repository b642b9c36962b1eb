import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CloudProvider, LastKnown } from '../../../../src/providers/clouds.ts';
import type { CloudModule } from '../../../../src/providers/descriptor.ts';
import { providerErrors } from '../../../../src/providers/errors.ts';
import type { LaunchRequest, ProviderInstance } from '../../../../src/providers/provider.ts';

export type Refusal = 'NoCapacity' | 'Quota' | 'Throttled' | 'Denied';

export interface TinyOptions {
  /** The account: a file for each launch and for each instance. */
  readonly folder: string;
  /** Instances that there is room for. @default as many as asked for */
  readonly room?: number;
  readonly refuse?: Refusal;
  readonly losesAnswer?: boolean;
}

/** Instances that are files, with nothing behind them. */
export class TinyProvider implements CloudProvider {
  readonly #options: TinyOptions;
  readonly #instances: string;
  readonly #launches: string;

  constructor(options: TinyOptions) {
    this.#options = options;
    [this.#instances, this.#launches] = [join(options.folder, 'instances'), join(options.folder, 'launches')];
    for (const folder of [this.#instances, this.#launches]) mkdirSync(folder, { recursive: true });
  }

  async list(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    return readdirSync(this.#instances).flatMap((id) => this.#read(id) ?? []);
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    signal.throwIfAborted();
    const file = join(this.#launches, request.token);
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(this.#make(request)));
    if (this.#options.losesAnswer === true) throw providerErrors.Unreachable({ call: 'launch' });
    const ids = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
    return ids.flatMap((id) => this.#read(id) ?? []);
  }

  async terminate(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.#read(id) !== undefined) rmSync(join(this.#instances, id));
  }

  async tag(id: string, tags: Readonly<Record<string, string>>): Promise<void> {
    const instance = this.#read(id);
    if (instance === undefined) throw providerErrors.NotFound({ id });
    this.#write({ ...instance, tags: { ...instance.tags, ...tags } });
  }

  async learn(): ReturnType<CloudProvider['learn']> {
    return (spec) => spec;
  }

  async lastKnown(id: string): Promise<LastKnown | undefined> {
    const instance = this.#read(id);
    return instance && { ended: false, tags: instance.tags };
  }

  async release(): Promise<void> {}

  async remains(): Promise<readonly []> {
    return [];
  }

  #make(request: LaunchRequest): readonly string[] {
    const { room = Number.POSITIVE_INFINITY, refuse } = this.#options;
    const { type, token, tags, count } = request;
    if (refuse !== undefined) throw providerErrors[refuse]({ type, call: 'launch' });
    const free = Math.min(count, room - readdirSync(this.#instances).length);
    if (free <= 0) throw providerErrors.NoCapacity({ type });
    return Array.from({ length: free }, (_, index) => {
      const id = `${token}-${index}`;
      this.#write({ id, launchToken: token, type, kind: 'worker', state: 'running', launchedAt: 0, tags });
      return id;
    });
  }

  #read(id: string): ProviderInstance | undefined {
    if (!/^[\w-]+$/.test(id)) return undefined;
    const file = join(this.#instances, id);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ProviderInstance) : undefined;
  }

  #write(instance: ProviderInstance): void {
    writeFileSync(join(this.#instances, instance.id), JSON.stringify(instance));
  }
}

export const openCloud: CloudModule['openCloud'] = ({ spec }) =>
  new TinyProvider({ folder: String(spec().provider.config.account_folder) });

export const headIdentity: CloudModule['headIdentity'] = () => ({ kind: 'file', text: 'none is asked for' });
