import type { Request } from 'express';
import { principalOf } from '../../auth/current-principal.decorator';
import type { Asker } from '../../runtime/asker';
import { chargeWork } from '../limits/charge-work';

/** The caller of a request. */
export class RequestAsker implements Asker {
  readonly principalId: string;
  /** Private, so that a spread of this object does not copy it. */
  readonly #request: Request;

  constructor(request: Request) {
    this.principalId = principalOf(request).principalId;
    this.#request = request;
  }

  get requestId(): string {
    return this.#request.requestId;
  }

  get isGone(): boolean {
    return this.#request.socket.destroyed;
  }

  measured<T>(work: () => T): T {
    return chargeWork(this.#request, work);
  }
}
