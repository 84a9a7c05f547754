import type * as api from './generated/types.ts';
import { call, requireSays } from './http/call.ts';
import type { Answer, Filter } from './http/operation.ts';
import { itemsOf } from './http/pages.ts';
import { notOfThisApi, type AnswerShape } from './http/shape.ts';
import { type CallOptions, type Method, pathOf, type Query, type Transport } from './http/transport.ts';
import { CREATED_GRANT, DELIVERY, GRANT, PENDING_GRANT, PRINCIPAL, REFRESH_REQUEST, SUBSCRIPTION } from './shapes.ts';
import type { EventType } from './webhook.ts';

/** Simple calls below a path. */
export class Resource {
  /** @internal */
  protected readonly transport: Transport;
  /** @internal */
  protected readonly path: string;

  /** @internal */
  constructor(transport: Transport, path: string) {
    this.transport = transport;
    this.path = path;
  }

  /** @internal */
  protected async call<T extends object>(
    method: Method,
    below: string,
    shape: AnswerShape<T>,
    options: CallOptions,
    body?: object,
    says?: object,
  ): Promise<T> {
    return call(this.transport, [method, this.path + below], shape, options, body, says);
  }

  /** @internal Sends a request whose answer has no content. */
  protected async send(method: Method, below: string, options: CallOptions): Promise<void> {
    await this.transport.text({ method, path: this.path + below }, options);
  }

  /** @internal */
  protected items<Item>(
    below: string,
    shape: AnswerShape<Item>,
    query: Query,
    options: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    return itemsOf(this.transport, this.path + below, query, options, shape);
  }
}

const GRANT_RESULTS: AnswerShape<api.GrantResults> = {
  items: [{ index: 0, status: 0, grant: { '?': GRANT }, pending_grant: { '?': GRANT } }],
};

export type Scope = api.Scope;

/** The caller's own membership of a tenant. */
export class Membership extends Resource {
  /** Accepts the tenant's invitation. */
  async accept(options: CallOptions = {}): Promise<api.Principal> {
    return this.call('POST', '/accept', PRINCIPAL, options);
  }

  /** Leaves the tenant, or declines its invitation. */
  async leave(options: CallOptions = {}): Promise<api.Principal> {
    return this.call('POST', '/leave', PRINCIPAL, options);
  }

  /** Leaves the tenant and prevents it from adding the caller again. */
  async block(options: CallOptions = {}): Promise<void> {
    return this.send('PUT', '/block', options);
  }

  /** Allows the tenant to add the caller again. */
  async unblock(options: CallOptions = {}): Promise<void> {
    return this.send('DELETE', '/block', options);
  }
}

/** Selects values of a version. */
export type ProvenanceFilter = Filter<'/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/provenance'>;

/** Selects disclosures. */
export type DisclosureFilter = Filter<'/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/disclosures'>;

/** Selects grants. */
export type GrantFilter = Omit<Filter<'/v1/tenants/{tenant_id}/grants'>, 'direction'>;

/** The grants of a tenant. */
export class Grants extends Resource {
  /** Lists the grants that the tenant issued, newest first, ended ones too. */
  list(filter: GrantFilter = {}, options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('', GRANT, { ...filter }, options);
  }

  /** Lists the grants to the tenant, ended ones too, without those that are {@link offered}. */
  received(filter: GrantFilter = {}, options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('', GRANT, { direction: 'received', ...filter }, options);
  }

  /** Lists the grants on all subjects of other tenants that the tenant has neither used nor accepted. */
  offered(filter: GrantFilter = {}, options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('', GRANT, { direction: 'offered', ...filter }, options);
  }

  /** Reads a grant that the tenant issued or received. */
  async get(grantId: string, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('GET', pathOf(grantId), GRANT, options, undefined, { grant_id: grantId });
  }

  /** Accepts a grant to the tenant. */
  async accept(grantId: string, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('POST', `${pathOf(grantId)}/accept`, GRANT, options, undefined, { grant_id: grantId });
  }

  /** Creates a grant. If the tenant requires a second human, a grant on all subjects is pending: see {@link PendingGrants}. */
  async create(grant: api.CreateGrantBody, options: CallOptions = {}): Promise<api.CreatedGrant | api.PendingGrant> {
    return this.call<api.CreatedGrant | api.PendingGrant>('POST', '', CREATED_GRANT, options, grant);
  }

  /** Creates up to 1,000 grants, each with its own result. */
  async createMany(grants: readonly api.CreateGrantBody[], options: CallOptions = {}): Promise<api.GrantResults> {
    const results = await this.call<api.GrantResults>('POST', '/batch', GRANT_RESULTS, options, { grants });
    if (results.items.length !== grants.length) throw notOfThisApi();
    for (const [at, { index, status, grant, pending_grant: pending }] of results.items.entries()) {
      const made = grant ?? pending;
      if (index !== at || (status < 300 && made === undefined)) throw notOfThisApi();
      requireSays(grants[at] ?? {}, made ?? {});
    }
    return results;
  }

  async change(grantId: string, change: api.ChangeGrantBody, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('PATCH', pathOf(grantId), GRANT, options, change, { ...change, grant_id: grantId });
  }

  /** Revokes a grant with immediate effect. */
  async revoke(grantId: string, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('POST', `${pathOf(grantId)}/revoke`, GRANT, options, undefined, {
      grant_id: grantId,
      status: 'revoked',
    });
  }
}

/** Grants on all subjects of a tenant that wait for a second human. They give no rights yet. */
export class PendingGrants extends Resource {
  list(options: CallOptions = {}): AsyncGenerator<api.PendingGrant, void, undefined> {
    return this.items('', PENDING_GRANT, {}, options);
  }

  /** Confirms the grant. The caller must be a human other than the requester. */
  async confirm(grantId: string, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('POST', `${pathOf(grantId)}/confirm`, GRANT, options, undefined, { grant_id: grantId });
  }

  async cancel(grantId: string, options: CallOptions = {}): Promise<api.PendingGrant> {
    const says = { grant_id: grantId, status: 'cancelled' };
    return this.call('POST', `${pathOf(grantId)}/cancel`, PENDING_GRANT, options, undefined, says);
  }
}

/** The refresh requests of a subject. */
export class RefreshRequests extends Resource {
  async create(request: api.CreateRefreshRequestBody, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.#one('POST', '', options, request, request);
  }

  list(
    query: Filter<'/v1/subjects/{subject_type}/{subject_id}/refresh-requests'> = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.RefreshRequest, void, undefined> {
    return this.items('', REFRESH_REQUEST, query, options);
  }

  async get(requestId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.#one('GET', pathOf(requestId), options, { refresh_request_id: requestId });
  }

  /** Fulfils the request with a snapshot. */
  async fulfil(requestId: string, snapshotId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    const body = { resolved_snapshot_id: snapshotId };
    return this.#act(requestId, 'fulfill', options, { ...body, status: 'fulfilled' }, body);
  }

  async decline(
    requestId: string,
    decline: api.DeclineRefreshRequestBody,
    options: CallOptions = {},
  ): Promise<api.RefreshRequest> {
    return this.#act(requestId, 'decline', options, { ...decline, status: 'declined' }, decline);
  }

  /** Cancels a request. Also ends its series, even if the last request is already closed. */
  async cancel(requestId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    const answer = await this.#act(requestId, 'cancel', options, {});
    if (answer.series_end_reason !== 'cancelled') requireSays({ status: 'cancelled' }, answer);
    return answer;
  }

  async #act(requestId: string, action: string, options: CallOptions, says: object, body?: object) {
    const answer = { ...says, refresh_request_id: requestId };
    return this.#one('POST', `${pathOf(requestId)}/${action}`, options, answer, body);
  }

  async #one(
    method: Method,
    below: string,
    options: CallOptions,
    says: object,
    body?: object,
  ): Promise<api.RefreshRequest> {
    const shape = { refresh_request: REFRESH_REQUEST };
    const answer = await this.call<{ refresh_request: api.RefreshRequest }>(method, below, shape, options, body, {});
    requireSays(says, answer.refresh_request);
    return answer.refresh_request;
  }
}

/** A subscription with its secret, which is returned only once. */
export type CreatedSubscription = Answer<'POST', '/v1/webhook-subscriptions'>;

export type DeliveryFilter = Omit<Filter<'/v1/webhook-subscriptions/{subscription_id}/deliveries'>, 'event_type'> & {
  /** Only events of this type. A later version of the service can have other types. */
  event_type?: string;
};

type Replayed = Answer<'POST', '/v1/webhook-subscriptions/{subscription_id}/deliveries/replay'>;

/** The webhook subscriptions of a tenant and their deliveries. Receivers use `verifyWebhook`. */
export class Webhooks extends Resource {
  /** @internal Created by `Tenant`. */
  constructor(
    transport: Transport,
    private readonly tenantId: string,
  ) {
    super(transport, '/v1/webhook-subscriptions');
  }

  list(options: CallOptions = {}): AsyncGenerator<api.WebhookSubscription, void, undefined> {
    return this.items('', SUBSCRIPTION, { tenant_id: this.tenantId }, options);
  }

  async create(
    subscription: { target_url: string; event_types: readonly EventType[] },
    options: CallOptions = {},
  ): Promise<CreatedSubscription> {
    return this.#one('POST', '', CREATED, options, { tenant_id: this.tenantId, ...subscription });
  }

  async get(subscriptionId: string, options: CallOptions = {}): Promise<api.WebhookSubscription> {
    return (await this.#one<Subscribed>('GET', pathOf(subscriptionId), SUBSCRIBED, options)).webhook_subscription;
  }

  async update(
    subscriptionId: string,
    change: api.UpdateWebhookSubscriptionBody,
    options: CallOptions = {},
  ): Promise<api.WebhookSubscription> {
    return (await this.#one<Subscribed>('PATCH', pathOf(subscriptionId), SUBSCRIBED, options, change))
      .webhook_subscription;
  }

  async delete(subscriptionId: string, options: CallOptions = {}): Promise<void> {
    return this.send('DELETE', pathOf(subscriptionId), options);
  }

  /** Replaces the secret. With `grace_seconds`, deliveries are signed with both secrets for that time. */
  async rotateSecret(
    subscriptionId: string,
    rotation: api.RotateSecretBody = {},
    options: CallOptions = {},
  ): Promise<CreatedSubscription> {
    return this.call('POST', `${pathOf(subscriptionId)}/rotate-secret`, CREATED, options, rotation);
  }

  deliveries(
    subscriptionId: string,
    filter: DeliveryFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Delivery, void, undefined> {
    return this.items(`${pathOf(subscriptionId)}/deliveries`, DELIVERY, { ...filter }, options);
  }

  async delivery(
    subscriptionId: string,
    deliveryId: string,
    options: CallOptions = {},
  ): Promise<api.DeliveryWithPayload> {
    const path = `${pathOf(subscriptionId)}/deliveries${pathOf(deliveryId)}`;
    return this.call('GET', path, { ...DELIVERY, payload: {} }, options, undefined, { delivery_id: deliveryId });
  }

  async redeliver(subscriptionId: string, deliveryId: string, options: CallOptions = {}): Promise<api.Delivery> {
    return this.call('POST', `${pathOf(subscriptionId)}/deliveries${pathOf(deliveryId)}/redeliver`, DELIVERY, options);
  }

  async replay(subscriptionId: string, period: api.ReplayBody, options: CallOptions = {}): Promise<Replayed> {
    const shape = { count: 0, has_more: false, next_from: null } as const;
    return this.call('POST', `${pathOf(subscriptionId)}/deliveries/replay`, shape, options, period, {});
  }

  /** Sends `webhook.test`. */
  async test(subscriptionId: string, options: CallOptions = {}): Promise<api.Delivery> {
    return this.call('POST', `${pathOf(subscriptionId)}/test`, DELIVERY, options);
  }

  async #one<T extends Subscribed>(
    method: Method,
    below: string,
    shape: AnswerShape<T>,
    options: CallOptions,
    body?: object,
  ): Promise<T> {
    const answer = await this.call(method, below, shape, options, body, {});
    requireSays(body ?? {}, answer.webhook_subscription);
    return answer;
  }
}

type Subscribed = Pick<CreatedSubscription, 'webhook_subscription'>;
const SUBSCRIBED = { webhook_subscription: SUBSCRIPTION };
const CREATED = { ...SUBSCRIBED, secret: '' } as const;

/** Selects refresh requests of a tenant. */
export type RefreshRequestFilter = Filter<'/v1/tenants/{tenant_id}/refresh-requests'>;
