import type { MantaError } from '../../base/errors.ts';
import { mantaTags, rayTags } from '../../core/ray-tags.ts';
import type { Offer } from '../../core/scaling.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { LateRefusal, ProviderInstance } from '../../providers/provider.ts';
import { headLaunchHash } from '../../state/launch-hash.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import type { CloudRequest } from './cloud-client.ts';
import { type CloudRemote, newToken, noHead, remember, remembered } from './cloud-record.ts';
import type { HeadCloud } from './patient-cloud.ts';

type HeadOffer = Pick<Offer, 'zone' | 'market'>;

/** Zones and markets for the head, in the order of the file. */
export const headOffers = (spec: ClusterSpec): readonly Offer[] =>
  spec.nodeTypes.find(({ name }) => name === spec.headType)?.offers ?? [{ market: 'on-demand' }];

const isSame = (one: HeadOffer, other: HeadOffer): boolean => one.zone === other.zone && one.market === other.market;

/** What was asked for and perhaps not answered. Records of earlier versions name no offer: then it was this one. */
const askedFor = ({ instance, askedAt, asked }: CloudRemote): HeadOffer | undefined =>
  instance === undefined && askedAt !== undefined ? (asked ?? { market: 'on-demand' }) : undefined;

/** Whether the file still has the offer that was last asked for, so that asking again finds what that made. */
export const canAskAgain = (known: CloudRemote, spec: ClusterSpec): boolean => {
  const asked = askedFor(known);
  return asked === undefined || headOffers(spec).some((offer) => isSame(offer, asked));
};

/**
 * Asks for the head: offer by offer, each with a token of its own that is written down before the call. A token is bound to
 * its zone, so what was asked for and not answered comes first, with the same token.
 */
export class HeadLaunch {
  readonly #request: CloudRequest;
  readonly #spec: ClusterSpec;
  readonly #provider: HeadCloud;
  #left: readonly Offer[];
  readonly #refused: { readonly offer: HeadOffer; readonly error: MantaError }[] = [];

  constructor(request: CloudRequest, spec: ClusterSpec, provider: HeadCloud) {
    this.#request = request;
    this.#spec = spec;
    this.#provider = provider;
    const offers = headOffers(spec);
    const asked = askedFor(remembered(request));
    const at =
      asked === undefined
        ? 0
        : Math.max(
            0,
            offers.findIndex((offer) => isSame(offer, asked)),
          );
    this.#left = [...offers.slice(at), ...offers.slice(0, at)];
  }

  /** Asks for the next offers until one of them is accepted. Throws what was tried when none is. */
  async ask(signal: AbortSignal): Promise<void> {
    for (let offer = this.#next(); offer !== undefined; offer = this.#next()) {
      const known = remembered(this.#request);
      const before = askedFor(known);
      const again = before !== undefined && isSame(before, offer);
      try {
        // A token that once made a head which is gone makes no second one.
        const made = await this.#launch(offer, again ? known.launchToken : newToken(), signal);
        if (made.length === 0) await this.#launch(offer, newToken(), signal);
        return;
      } catch (error) {
        if (!providerErrors.NoCapacity.is(error) && !providerErrors.Quota.is(error)) throw error;
        this.#refuse(offer, error, providerErrors.Quota.is(error) ? error.data.closes : undefined);
      }
    }
    const [only, ...others] = this.#refused;
    if (only !== undefined && others.length === 0) throw only.error;
    const tried = this.#refused.map(({ offer, error }) => `${wordsOf(offer)}: ${error.message}`);
    throw launcherErrors.HeadRefused({ name: this.#request.folder.name, type: this.#spec.headType, tried });
  }

  /** The cloud accepted the head and ended it before it ran: the next offer has its turn. */
  async askElsewhere(instance: ProviderInstance, { kind, detail, closes }: LateRefusal, signal: AbortSignal) {
    const { type, zone, market = 'on-demand' } = instance;
    if (kind === 'denied') throw providerErrors.Denied({ call: 'launch', ...(detail !== undefined && { detail }) });
    const asked = { type, zone, market, detail };
    const offer = { market, ...(zone !== undefined && { zone }) };
    if (kind === 'quota') this.#refuse(offer, providerErrors.Quota({ ...asked, closes }), closes);
    else this.#refuse(offer, providerErrors.NoCapacity(asked), undefined);
    remember(this.#request.folder, { launchToken: newToken(), askedAt: undefined, asked: undefined });
    await this.ask(signal);
  }

  #next(): Offer | undefined {
    const [next, ...left] = this.#left;
    this.#left = left;
    return next;
  }

  #refuse(offer: HeadOffer, error: MantaError, closes: LateRefusal['closes']): void {
    this.#refused.push({ offer, error });
    const wide = closes === 'region' || closes === 'project';
    if (wide) this.#left = this.#left.filter(({ market }) => market !== offer.market);
    if (this.#left.length > 0)
      this.#request.events.emit(launcherEvents.headRefused, { why: error.message, offer: wordsOf(offer) });
  }

  async #launch({ zone, market }: Offer, token: string, signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { folder, clock, events } = this.#request;
    const { headType: type } = this.#spec;
    const where = { market, ...(zone !== undefined && { zone }) };
    remember(folder, { ...noHead, launchToken: token, asked: where, askedAt: clock.now() });
    events.emit(launcherEvents.asking, { type }, { id: 'head', state: 'running' });
    const tags = { [rayTags.kind]: 'head', [mantaTags.launchHash]: headLaunchHash(this.#spec) };
    return await this.#provider.launch({ token, type, count: 1, ...where, tags }, signal);
  }
}

const wordsOf = ({ zone, market }: HeadOffer): string => (zone === undefined ? market : `${market} in ${zone}`);
