import type * as api from './generated/types.ts';
import { decode } from './http/answer.ts';
import { itemsOf } from './http/pages.ts';
import { type CallOptions, type Method, pathOf, type Query, type Transport } from './http/transport.ts';
import type { SubjectType } from './types.ts';

/** The plain calls: one request, one answer. */
class Resource {
  /** @internal made by `Tenant` and `Subject` */
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
  ) {}

  protected async call<T>(method: Method, below: string, options: CallOptions, body?: unknown): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const text = await this.transport.text({ method, path: this.path + below, ...sent }, options);
    return decode(text === '' ? 'null' : text);
  }

  protected items<Item>(below: string, query: Query, options: CallOptions): AsyncGenerator<Item, void, undefined> {
    return itemsOf(this.transport, this.path + below, query, options);
  }
}

export type Scope = api.CreateGrantBody['scopes'][number];

/** The grants that a tenant gave. */
export class Grants extends Resource {
  list(options: CallOptions = {}): AsyncGenerator<api.Grant, void, undefined> {
    return this.items('', {}, options);
  }

  async create(grant: api.CreateGrantBody, options: CallOptions = {}): Promise<api.CreatedGrant> {
    return this.call('POST', '', options, grant);
  }

  /** Up to a thousand, each with an outcome of its own. */
  async createMany(grants: readonly api.CreateGrantBody[], options: CallOptions = {}): Promise<api.GrantResults> {
    return this.call('POST', '/batch', options, { grants });
  }

  async change(grantId: string, change: api.ChangeGrantBody, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('PATCH', pathOf(grantId), options, change);
  }

  /** From its answer on nothing is read by the grant any more. */
  async revoke(grantId: string, options: CallOptions = {}): Promise<api.Grant> {
    return this.call('POST', `${pathOf(grantId)}/revoke`, options);
  }
}

/** The refresh requests of a subject. */
export class RefreshRequests extends Resource {
  async create(request: api.CreateRefreshRequestBody, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.one('POST', '', options, request);
  }

  list(
    query: { requesting_tenant_id?: string } = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.RefreshRequest, void, undefined> {
    return this.items('', query, options);
  }

  async get(requestId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.one('GET', pathOf(requestId), options);
  }

  /** Links the snapshot that answers it. */
  async fulfil(requestId: string, snapshotId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.one('POST', `${pathOf(requestId)}/fulfill`, options, { resolved_snapshot_id: snapshotId });
  }

  async decline(
    requestId: string,
    decline: api.DeclineRefreshRequestBody,
    options: CallOptions = {},
  ): Promise<api.RefreshRequest> {
    return this.one('POST', `${pathOf(requestId)}/decline`, options, decline);
  }

  async cancel(requestId: string, options: CallOptions = {}): Promise<api.RefreshRequest> {
    return this.one('POST', `${pathOf(requestId)}/cancel`, options);
  }

  private async one(method: Method, below: string, options: CallOptions, body?: unknown): Promise<api.RefreshRequest> {
    return (await this.call<{ refresh_request: api.RefreshRequest }>(method, below, options, body)).refresh_request;
  }
}

/** A subscription, and its secret, which is shown this once. */
export interface CreatedSubscription {
  webhook_subscription: api.WebhookSubscription;
  secret: string;
}

export interface DeliveryFilter {
  status?: api.Delivery['status'];
  event_type?: string;
  from?: string;
  to?: string;
}

/** The webhook subscriptions of a tenant, and what was sent. `verifyWebhook` is for who receives. */
export class Webhooks extends Resource {
  /** @internal made by `Tenant` */
  constructor(
    transport: Transport,
    private readonly tenantId: string,
  ) {
    super(transport, '/v1/webhook-subscriptions');
  }

  list(options: CallOptions = {}): AsyncGenerator<api.WebhookSubscription, void, undefined> {
    return this.items('', { tenant_id: this.tenantId }, options);
  }

  async create(
    subscription: { target_url: string; event_types: readonly string[] },
    options: CallOptions = {},
  ): Promise<CreatedSubscription> {
    return this.call('POST', '', options, { tenant_id: this.tenantId, ...subscription });
  }

  async get(subscriptionId: string, options: CallOptions = {}): Promise<api.WebhookSubscription> {
    return (await this.call<Pick<CreatedSubscription, 'webhook_subscription'>>('GET', pathOf(subscriptionId), options))
      .webhook_subscription;
  }

  async update(
    subscriptionId: string,
    change: api.UpdateWebhookSubscriptionBody,
    options: CallOptions = {},
  ): Promise<api.WebhookSubscription> {
    const answer = await this.call<Pick<CreatedSubscription, 'webhook_subscription'>>(
      'PATCH',
      pathOf(subscriptionId),
      options,
      change,
    );
    return answer.webhook_subscription;
  }

  async delete(subscriptionId: string, options: CallOptions = {}): Promise<void> {
    await this.call('DELETE', pathOf(subscriptionId), options);
  }

  /** With `grace_seconds` deliveries carry signatures of both secrets for that time. */
  async rotateSecret(
    subscriptionId: string,
    rotation: api.RotateSecretBody = {},
    options: CallOptions = {},
  ): Promise<CreatedSubscription> {
    return this.call('POST', `${pathOf(subscriptionId)}/rotate-secret`, options, rotation);
  }

  deliveries(
    subscriptionId: string,
    filter: DeliveryFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.Delivery, void, undefined> {
    return this.items(`${pathOf(subscriptionId)}/deliveries`, { ...filter }, options);
  }

  async delivery(
    subscriptionId: string,
    deliveryId: string,
    options: CallOptions = {},
  ): Promise<api.DeliveryWithPayload> {
    return this.call('GET', `${pathOf(subscriptionId)}/deliveries${pathOf(deliveryId)}`, options);
  }

  async redeliver(subscriptionId: string, deliveryId: string, options: CallOptions = {}): Promise<api.Delivery> {
    return this.call('POST', `${pathOf(subscriptionId)}/deliveries${pathOf(deliveryId)}/redeliver`, options);
  }

  async replay(
    subscriptionId: string,
    period: api.ReplayBody,
    options: CallOptions = {},
  ): Promise<{ count: number; has_more: boolean; next_from: string | null }> {
    return this.call('POST', `${pathOf(subscriptionId)}/deliveries/replay`, options, period);
  }

  /** Sends `webhook.test`. */
  async test(subscriptionId: string, options: CallOptions = {}): Promise<api.Delivery> {
    return this.call('POST', `${pathOf(subscriptionId)}/test`, options);
  }
}

/** What a list of a tenant's refresh requests is about. */
export interface RefreshRequestFilter {
  direction?: 'incoming' | 'outgoing';
  status?: api.RefreshRequest['status'];
  subject_type?: SubjectType;
}
