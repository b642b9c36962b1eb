import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from './accounts.ts';
import { readCall } from './api.ts';
import { asCloudError, type Call, type CallDesk } from './call-desk.ts';
import type { Cloud } from './cloud.ts';
import { answer, answerCut, answerError, readAsked } from './http.ts';

/** Serves `/v1`, the lab cloud's own dialect: JSON, and a token for each account. */
export class ApiServer {
  readonly #cloud: Cloud;
  readonly #accounts: Accounts;
  readonly #desk: CallDesk;

  constructor(cloud: Cloud, accounts: Accounts, desk: CallDesk) {
    this.#cloud = cloud;
    this.#accounts = accounts;
    this.#desk = desk;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.#cloud.clock.now();
    let call: Call;
    let account: string;
    try {
      account = this.#accounts.of(request);
      call = readCall(await readAsked(request), this.#cloud, account);
    } catch (error) {
      answerError(response, asCloudError(error));
      return;
    }
    const outcome = await this.#desk.carryOut(call, account, at);
    if (outcome === 'lost') request.socket.destroy();
    if (typeof outcome === 'string') return;
    if ('error' in outcome) answerError(response, outcome.error);
    else if (outcome.cut) answerCut(response, 'application/json', JSON.stringify(outcome.body), outcome.cut);
    else answer(response, 200, outcome.body);
  }
}
