import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from './accounts.ts';
import { readLaunch } from './api.ts';
import { asCloudError } from './call-desk.ts';
import type { CallLog } from './call-log.ts';
import type { Cloud } from './cloud.ts';
import { cloudErrors } from './errors.ts';
import { readFault } from './faults.ts';
import { type Asked, answer, answerError, bearerIs, readAsked } from './http.ts';
import { defaultSettings, fields, listOf, number, patchSettings, required, text } from './settings.ts';

/** Serves `/admin`: what tests and benches turn and look at. Nothing goes wrong here. */
export class AdminServer {
  readonly #cloud: Cloud;
  readonly #accounts: Accounts;
  readonly #log: CallLog;
  readonly #token: string;

  constructor(cloud: Cloud, accounts: Accounts, log: CallLog, token: string) {
    this.#cloud = cloud;
    this.#accounts = accounts;
    this.#log = log;
    this.#token = token;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!bearerIs(request, this.#token)) throw cloudErrors.unauthorized();
      answer(response, 200, (await this.#answer(await readAsked(request))) ?? {});
    } catch (error) {
      answerError(response, asCloudError(error));
    }
  }

  async #answer({ method, path, query, body }: Asked): Promise<unknown> {
    const cloud = this.#cloud;
    const [, noun = '', id = '', verb = ''] = path;
    switch ([method, noun, id && ':id', verb].join(' ').trimEnd()) {
      case 'GET settings':
        return cloud.settings;
      case 'PATCH settings':
        cloud.settings = patchSettings(cloud.settings, body);
        return cloud.settings;
      case 'DELETE settings':
        cloud.settings = defaultSettings;
        return cloud.settings;
      case 'GET faults':
        return { faults: cloud.faults.all() };
      case 'POST faults':
        for (const rule of listOf(readFault)(Array.isArray(body) ? body : [body], 'faults')) cloud.faults.add(rule);
        return { faults: cloud.faults.all() };
      case 'DELETE faults':
        return cloud.faults.clear();
      case 'GET instances':
        return { instances: cloud.truth() };
      case 'POST instances': {
        const { account, launch } = readStray(body);
        return { instances: cloud.launch(account, readLaunch(launch)) };
      }
      case 'POST instances :id preempt':
        return cloud.preempt(id, fields<{ notice_s: number }>({ notice_s: number })(body ?? {}, '').notice_s ?? 0);
      case 'POST instances :id rebalance':
        return cloud.rebalance(id);
      case 'POST instances :id vanish':
        return cloud.vanish(id);
      case 'DELETE instances':
        return cloud.empty(query.get('account') ?? undefined);
      case 'GET belongings':
        return { belongings: cloud.has.truth(query.get('account') ?? undefined) };
      case 'GET costs':
        return { costs: cloud.costs(query.get('account') ?? undefined) };
      case 'GET calls':
        return { calls: this.#log.since(Number(query.get('since') ?? 0), query.get('call') ?? undefined) };
      case 'DELETE calls':
        return this.#log.clear();
      case 'GET accounts':
        return { accounts: this.#accounts.names() };
      case 'POST accounts': {
        const { name } = required(fields<{ name: string }>({ name: text })(body, ''), ['name'], '');
        return { name, token: this.#accounts.open(name) };
      }
      default:
        throw cloudErrors.noSuchPath(`${method} /${path.join('/')}`);
    }
  }
}

/** A launch that nobody called for. */
const readStray = (body: unknown): { account: string; launch: unknown } =>
  required(
    fields<{ account: string; launch: unknown }>({ account: text, launch: (value) => value ?? {} })(body, ''),
    ['account', 'launch'],
    '',
  );
