import type { JsonObject } from '@iss/domain/pure';
import type * as api from './generated/types.ts';
import { parseAnswer } from './http/answer.ts';
import { requireLike } from './http/shape.ts';
import { call, bodyText } from './http/call.ts';
import type { Answer, Item, ListPath, Path, RequestOptions } from './http/operation.ts';
import { itemsOf } from './http/pages.ts';
import {
  type CallOptions,
  fillPath,
  type Method,
  type PathValues,
  type Query,
  Transport,
  type TransportOptions,
} from './http/transport.ts';
import { TENANT } from './shapes.ts';
import { Tenant } from './tenant.ts';
import type { Verify } from './types.ts';
import { LogTrust, type ProvedCheckpoint } from './verify/log.ts';
import type { Trust } from './verify/trust.ts';
import { AnswerVerifier } from './verify/verifier.ts';

export interface IdentityStateOptions extends TransportOptions {
  /** The trusted keys of the log. With it, `verify` defaults to `log`, and with a VRF key to `complete`. */
  trust?: Trust | undefined;
  /** The default of `verify` for calls. Without `trust`, it is `hash`. */
  verify?: Verify | undefined;
  /** Returns the time in milliseconds since 1970. Defaults to `Date.now`. */
  now?: (() => number) | undefined;
  /** Returns the SHA-256 of the RFC 8785 text of an envelope in lowercase hex. A page can compute it in a worker. */
  hash?: ((envelope: JsonObject) => Promise<string>) | undefined;
}

/** A request for a path that {@link Path} does not list. */
export interface RawRequest extends CallOptions {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * A client of the service. Create one and keep it: it remembers the versions that it has seen, and compares new answers with them.
 */
export class IdentityState {
  private readonly transport: Transport;
  private readonly verifier: AnswerVerifier;

  constructor(options: IdentityStateOptions) {
    const { trust, verify = defaultOf(trust), now = Date.now } = options;
    this.transport = new Transport(options);
    const log = trust === undefined ? null : new LogTrust(this.transport, trust, now);
    this.verifier = new AnswerVerifier(this.transport, log, verify, options.hash);
  }

  /** Returns the API of a tenant that the caller acts for. */
  tenant(tenantId: string): Tenant {
    return new Tenant(this.transport, this.verifier, tenantId);
  }

  /** Lists the tenants that the caller is a member of. */
  tenants(options: CallOptions = {}): AsyncGenerator<api.TenantItem, void, undefined> {
    return itemsOf(this.transport, '/v1/tenants', {}, options, TENANT);
  }

  /** Lists the tenants that invited the caller. Use `tenant(id).membership` to reply. */
  invitations(options: CallOptions = {}): AsyncGenerator<api.Invitation, void, undefined> {
    return itemsOf(this.transport, '/v1/invitations', {}, options, { tenant_id: '' });
  }

  /** Lists the tenants that the caller blocks. */
  blockedTenants(options: CallOptions = {}): AsyncGenerator<api.BlockedTenant, void, undefined> {
    return itemsOf(this.transport, '/v1/blocked-tenants', {}, options, { tenant_id: '' });
  }

  /** Creates a tenant. The caller becomes its owner. */
  async createTenant(tenant: api.CreateTenantBody, options: CallOptions = {}): Promise<Tenant> {
    await call(this.transport, ['POST', '/v1/tenants'], { tenant_id: '' }, options, tenant);
    return this.tenant(tenant.tenant_id);
  }

  /** Fetches the newest checkpoint of the log, verifies that it continues the stored one, and stores it. Needs `trust`. */
  async checkpoint(options: CallOptions = {}): Promise<ProvedCheckpoint> {
    return this.verifier.requireLog().checkpoint(options);
  }

  /**
   * Adds a checkpoint from another source, such as the decoded `x-iss-log-checkpoint` header of a webhook. The log must then continue it.
   * Needs `trust`.
   *
   * @throws VerificationError if `trust` does not accept it, or it contradicts the stored checkpoint
   */
  async acceptCheckpoint(note: string, options: CallOptions = {}): Promise<ProvedCheckpoint> {
    return this.verifier.requireLog().checkpoint(options, note);
  }

  /** Sends a request for a complete path, with encoded segments. `T` is not checked. */
  async request<T, P extends string = string>(
    method: Method,
    path: P & (P extends Path<Method> ? never : string),
    options?: RawRequest,
  ): Promise<T>;
  /**
   * Sends a request of the API, with token, deadline, retries and errors, but without verification:
   * `request('GET', '/v1/tenants/{tenant_id}/grants', { path: { tenant_id }, query: { status: 'active' } })`. The types of the parameters,
   * the body and the answer follow from the method and the path.
   */
  async request<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    ...options: RequestOptions<M, P>
  ): Promise<Answer<M, P>>;
  async request(
    method: Method,
    path: string,
    { path: parameters, query, body, ...options }: RawRequest & { path?: PathValues } = {},
  ): Promise<unknown> {
    const request = { method, path: fillPath(path, parameters), query, body: bodyText(body) };
    const text = await this.transport.text(request, options);
    const value: unknown = parseAnswer(text === '' ? 'null' : text);
    requireLike(value, { '?': {} });
    return value;
  }

  /** Streams the items of a list of the API. Takes what {@link request} takes, and verifies as little. */
  list<P extends ListPath>(path: P, ...options: RequestOptions<'GET', P>): AsyncGenerator<Item<P>, void, undefined>;
  list(
    path: string,
    { path: parameters, query, ...options }: RawRequest & { path?: PathValues } = {},
  ): AsyncGenerator<object, void, undefined> {
    return itemsOf(this.transport, fillPath(path, parameters), query, options, {});
  }

  /**
   * Streams the lines of a text answer, such as an NDJSON export, a bundle or a checkpoint, without verification.
   *
   * @throws ConnectionError if the connection breaks
   */
  async *lines(
    path: string,
    { query, ...options }: Omit<RawRequest, 'body'> = {},
  ): AsyncGenerator<string, void, undefined> {
    const request = { method: 'GET', path, query, accept: 'application/x-ndjson' } as const;
    yield* this.transport.lines(request, options);
  }
}

function defaultOf(trust: Trust | undefined): Verify {
  if (trust === undefined) return 'hash';
  return trust.vrfKey !== undefined || /^\s*vrf\s/m.test(trust.policy ?? '') ? 'complete' : 'log';
}
