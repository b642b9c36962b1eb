import type { Host, RunOptions } from '../../base/host.ts';
import type { ProgramHost } from '../../base/one-session.ts';
import { ownValue } from '../../base/own-value.ts';
import type { Instant } from '../../base/time/clock.ts';
import type { Resources } from '../../core/resources.ts';
import { answerMark, type ClaimAct, type ClaimTerms, claimProgram, claimTerms } from './claim-program.ts';
import { localErrors } from './errors.ts';

/** Who claims hosts. */
export interface Claimant {
  /** Made once for each cluster: two clusters of one name, made on two machines, are two. */
  readonly clusterId: string;
  readonly cluster: string;
  /** As people know them: user and machine. */
  readonly owner: string;
  readonly headAddress: string;
}

/** A claim as it stands on a host. */
export interface HostClaim extends Claimant {
  readonly instance: string;
  /** By the clock of the host. */
  readonly renewedAt: Instant;
  readonly expiresAt: Instant;
}

/** What was found on a host. */
export interface HostFacts {
  readonly cpus: number;
  /** In bytes. */
  readonly memory: number;
  readonly gpus: number;
}

export type ClaimOutcome =
  /** `rayRuns`: somebody has started Ray there without a claim. */
  | { readonly kind: 'held'; readonly facts: HostFacts; readonly rayRuns: boolean }
  /** This cluster holds it for another instance, of which nothing else may be known any more. */
  | { readonly kind: 'own'; readonly instance: string }
  | RefusedClaim;
export type RefusedClaim =
  | { readonly kind: 'taken'; readonly by: HostClaim; readonly expired: boolean }
  | { readonly kind: 'unusable'; readonly detail: string };

/** Claims a host. The same instance again is not a second claim: it is renewed. */
export async function claimHost(
  host: Host,
  claimant: Claimant,
  instance: string,
  options: RunOptions,
  terms: ClaimTerms = claimTerms,
): Promise<ClaimOutcome> {
  const answer = await run(host, 'claim', claimant, instance, options, terms);
  if (answer.kind === 'own') return { kind: 'own', instance: answer.detail };
  if (answer.kind === 'held')
    return { kind: 'held', facts: factsOf(answer), rayRuns: answer.said.get('ray') === 'yes' };
  return refusal(host, answer);
}

/**
 * Claims a host that is not one of many: the head's. Throws Taken or Unusable. What the cluster holds there for an earlier
 * instance is taken over: the caller ends it.
 */
export async function requireClaim(
  host: Host,
  claimant: Claimant,
  instance: string,
  options: RunOptions,
  terms: ClaimTerms = claimTerms,
): Promise<Extract<ClaimOutcome, { kind: 'held' }>> {
  let outcome = await claimHost(host, claimant, instance, options, terms);
  if (outcome.kind === 'own') {
    await releaseClaim(host, claimant, outcome.instance, options, terms);
    outcome = await claimHost(host, claimant, instance, options, terms);
  }
  if (outcome.kind === 'held') return outcome;
  if (outcome.kind === 'unusable') throw localErrors.Unusable({ host: host.name, detail: outcome.detail });
  const by = outcome.kind === 'own' ? `held by ${outcome.instance} of this cluster` : refusalText(outcome);
  throw localErrors.Taken({ host: host.name, by });
}

/** Renews a claim, also one that has expired or was removed, unless somebody else has taken the host since. */
export async function renewClaim(
  host: Host,
  claimant: Claimant,
  instance: string,
  options: RunOptions,
  terms: ClaimTerms = claimTerms,
): Promise<{ readonly kind: 'held' } | RefusedClaim> {
  const answer = await run(host, 'renew', claimant, instance, options, terms);
  if (answer.kind === 'held') return { kind: 'held' };
  return refusal(host, answer.kind === 'lost' ? { ...answer, kind: 'taken' } : answer);
}

/** Gives a claim back. One that is not there any more, or is another instance's, is left alone; `undefined` is any instance. */
export async function releaseClaim(
  host: ProgramHost,
  claimant: Claimant,
  instance: string | undefined,
  options: RunOptions,
  terms: ClaimTerms = claimTerms,
): Promise<void> {
  const act = instance === undefined ? 'clear' : 'release';
  const answer = await run(host, act, claimant, instance ?? 'any', options, terms);
  if (answer.kind === 'unusable') throw localErrors.Unusable({ host: host.name, detail: answer.detail });
}

/** What a host has, without a claim. */
export async function lookAtHost(host: Host, options: RunOptions, terms: ClaimTerms = claimTerms): Promise<HostFacts> {
  const nobody = { clusterId: 'none', cluster: '', owner: '', headAddress: '' };
  return factsOf(await run(host, 'look', nobody, 'none', options, terms));
}

/** Why a host is not to be had, after "is" or on its own. */
export function refusalText(refused: RefusedClaim): string {
  if (refused.kind === 'unusable') return refused.detail;
  const { by, expired } = refused;
  const whose = `held by cluster '${by.cluster}' of ${by.owner} (head ${by.headAddress})`;
  return expired
    ? `${whose}, whose claim has expired while Ray is still running there`
    : `${whose} until ${new Date(by.expiresAt).toISOString().slice(0, 19)}Z`;
}

/** What Ray offers on a machine, nearly: it keeps a share of the memory for objects, and Manta counts on the rest. */
export function resourcesOf(facts: HostFacts): Resources {
  return {
    ...(facts.cpus > 0 && { CPU: facts.cpus }),
    ...(facts.gpus > 0 && { GPU: facts.gpus }),
    ...(facts.memory > 0 && { memory: Math.floor(facts.memory * 0.7) }),
  };
}

interface Answer {
  readonly kind: string;
  readonly detail: string;
  readonly said: ReadonlyMap<string, string>;
}

async function run(
  host: ProgramHost,
  act: ClaimAct,
  claimant: Claimant,
  instance: string,
  options: RunOptions,
  terms: ClaimTerms,
): Promise<Answer> {
  const { clusterId, ...note } = claimant;
  const { code, stdout, stderr } = await host.sh(claimProgram({ act, terms, clusterId, instance, note }), {
    within: 30_000,
    ...options,
  });
  const said = new Map<string, string>();
  let last = '';
  for (const line of stdout.split('\n')) {
    const match = /^manta-claim ([a-z-]+)(?: (.*))?$/.exec(line.slice(line.indexOf(`${answerMark} `)));
    if (!match) continue;
    last = match[1] as string;
    said.set(last, match[2] ?? '');
  }
  if (!answers.has(last))
    throw localErrors.NoAnswer({ host: host.name, detail: stderr.trim().split('\n').at(-1) || `exit code ${code}` });
  return { kind: last, detail: said.get(last) ?? '', said };
}

const answers = new Set(['held', 'own', 'taken', 'taken-by-ray', 'lost', 'released', 'not-held', 'looked', 'unusable']);

function refusal(host: Host, { kind, detail }: Answer): RefusedClaim {
  if (kind === 'unusable') return { kind, detail };
  if (kind === 'taken' || kind === 'taken-by-ray')
    return { kind: 'taken', by: readClaim(detail), expired: kind === 'taken-by-ray' };
  throw localErrors.NoAnswer({ host: host.name, detail: `'${kind}'` });
}

/** Others wrote it: nothing of it is taken for granted. */
export function readClaim(line: string): HostClaim {
  let read: Record<string, unknown> = {};
  try {
    read = JSON.parse(line) as Record<string, unknown>;
  } catch {
    // The host is taken, no matter by whom.
  }
  const text = (key: string): string => {
    const value = ownValue(read, key);
    return typeof value === 'string' ? value.slice(0, 200) : 'unknown';
  };
  const instant = (key: string): Instant =>
    Number.isSafeInteger(ownValue(read, key)) ? Math.min(Number(ownValue(read, key)), 8e12) * 1000 : 0;
  return {
    clusterId: text('clusterId'),
    cluster: text('cluster'),
    owner: text('owner'),
    headAddress: text('headAddress'),
    instance: text('instance'),
    renewedAt: instant('renewedAt'),
    expiresAt: instant('expiresAt'),
  };
}

function factsOf({ said }: Answer): HostFacts {
  const number = (key: string): number => Number(/^\d+$/.exec(said.get(key) ?? '')?.[0] ?? 0);
  return { cpus: number('cpus'), memory: number('memory'), gpus: number('gpus') };
}
