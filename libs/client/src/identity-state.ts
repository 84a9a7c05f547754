import type * as api from './generated/types.ts';
import { parseAnswer } from './http/answer.ts';
import { requireLike } from './http/shape.ts';
import { call, textOf } from './http/call.ts';
import { itemsOf } from './http/pages.ts';
import { type CallOptions, type Method, type Query, Transport, type TransportOptions } from './http/transport.ts';
import { TENANT } from './shapes.ts';
import { Tenant } from './tenant.ts';
import type { Verify } from './types.ts';
import { LogTrust, type ProvedCheckpoint } from './verify/log.ts';
import type { Trust } from './verify/trust.ts';
import { Verifier } from './verify/verifier.ts';

export interface IdentityStateOptions extends TransportOptions {
  /** Whose signatures make the log's checkpoints count. With it, snapshots are proved by the log unless said otherwise. */
  trust?: Trust | undefined;
  /** How much is verified where a call does not say: `log` with `trust`, `hash` without. */
  verify?: Verify | undefined;
  /** The time, in milliseconds since 1970: the platform's unless said otherwise. */
  now?: (() => number) | undefined;
}

/** A request that no method of this library makes. */
export interface RawRequest extends CallOptions {
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * A client of the service. It opens no connection of its own and holds nothing but what was seen: make one, and keep it,
 * since what it has seen is what it can compare with.
 */
export class IdentityState {
  private readonly transport: Transport;
  private readonly verifier: Verifier;

  constructor(options: IdentityStateOptions) {
    const { trust, verify = trust === undefined ? 'hash' : 'log', now = Date.now } = options;
    this.transport = new Transport(options);
    const log = trust === undefined ? null : new LogTrust(this.transport, trust, now);
    this.verifier = new Verifier(this.transport, log, verify);
  }

  /** A tenant that the caller acts for. */
  tenant(tenantId: string): Tenant {
    return new Tenant(this.transport, this.verifier, tenantId);
  }

  /** The tenants that the caller is a member of. */
  tenants(options: CallOptions = {}): AsyncGenerator<api.TenantOfMember, void, undefined> {
    return itemsOf(this.transport, '/v1/tenants', {}, options, TENANT);
  }

  /** The tenants that invited the caller. `tenant(id).membership` answers them. */
  invitations(options: CallOptions = {}): AsyncGenerator<api.Invitation, void, undefined> {
    return itemsOf(this.transport, '/v1/invitations', {}, options, { tenant_id: '' });
  }

  /** The tenants that may not add the caller. */
  blockedTenants(options: CallOptions = {}): AsyncGenerator<api.BlockedTenant, void, undefined> {
    return itemsOf(this.transport, '/v1/blocked-tenants', {}, options, { tenant_id: '' });
  }

  /** Founds a tenant, whose owner the caller becomes. */
  async createTenant(tenant: api.CreateTenantBody, options: CallOptions = {}): Promise<Tenant> {
    await call(this.transport, ['POST', '/v1/tenants'], { tenant_id: '' }, options, tenant);
    return this.tenant(tenant.tenant_id);
  }

  /** The newest checkpoint of the log, if it continues what was seen; it is kept. Needs `trust`. */
  async checkpoint(options: CallOptions = {}): Promise<ProvedCheckpoint> {
    return this.verifier.requireLog().checkpoint(options);
  }

  /**
   * Takes note of a checkpoint that came by another way, as with a webhook (`x-iss-log-checkpoint`, decoded): from then on the log has to
   * continue it. Needs `trust`.
   *
   * @throws VerificationError for one that `trust` does not accept, or that does not continue what was kept
   */
  async acceptCheckpoint(note: string, options: CallOptions = {}): Promise<ProvedCheckpoint> {
    return this.verifier.requireLog().checkpoint(options, note);
  }

  /**
   * A request as the API's documentation has it, for what has no method here: with token, deadline, retries and errors, and
   * without verification. `T` is the caller's word.
   */
  async request<T>(method: Method, path: string, { query, body, ...options }: RawRequest = {}): Promise<T> {
    const text = await this.transport.text({ method, path, query, body: textOf(body) }, options);
    const value: unknown = parseAnswer(text === '' ? 'null' : text);
    requireLike<T>(value, { '?': {} });
    return value;
  }

  /**
   * The lines of an answer that is a text, as they come: an export as NDJSON, a bundle, a checkpoint. Without verification.
   *
   * @throws ConnectionError where it breaks off
   */
  async *lines(
    path: string,
    { query, ...options }: Omit<RawRequest, 'body'> = {},
  ): AsyncGenerator<string, void, undefined> {
    const request = { method: 'GET', path, query, accept: 'application/x-ndjson' } as const;
    yield* this.transport.lines(request, options);
  }
}
