import { randomUUID } from 'node:crypto';
import {
  type Actor,
  DomainError,
  type EventType,
  type JsonValue,
  newWebhookSecret,
  requireStorablePaths,
  RULES,
  secretFingerprint,
} from '@iss/domain';
import {
  type ActedBy,
  type Page,
  type PageRequest,
  type WebhookSubscriptionChange,
  type WebhookSubscriptionRecord,
  WebhookSubscriptionStore,
} from '@iss/persistence';
import { SecretBox } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import { AccessService } from '../../access/access.service';
import type { Principal } from '../../auth/principal';
import type { RequestTrace } from '../../request-trace';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { requireTargetUrl } from './target-url';

export interface SubscriptionToCreate {
  tenantId: string;
  targetUrl: string;
  eventTypes: EventType[];
  /** As sent. Null: every new version is announced. */
  paths: readonly JsonValue[] | null;
}

/** The new values. An undefined member stays unchanged. */
export type SubscriptionChangeRequest = Omit<WebhookSubscriptionChange, 'paths'> & {
  paths?: SubscriptionToCreate['paths'] | undefined;
};

/** The secret is returned only in the response that creates it. */
export interface CreatedSubscription {
  subscription: WebhookSubscriptionRecord;
  secret: string;
}

/** Manages the URLs that receive a tenant's events. */
@Injectable()
export class WebhookSubscriptionService {
  constructor(
    private readonly access: AccessService,
    private readonly subscriptions: WebhookSubscriptionStore,
    private readonly secrets: SecretBox,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Throws `forbidden`, `validation_error` that names the field, or `limit_reached`. */
  async create(principal: Principal, trace: RequestTrace, input: SubscriptionToCreate): Promise<CreatedSubscription> {
    const { tenantId } = input;
    await this.access.require({ tenantId, principalId: principal.principalId }, RULES.useWebhooks);
    const targetUrl = requireTargetUrl(input.targetUrl, this.settings.allowPrivateTargets);
    const eventTypes = this.requireEventTypes(input.eventTypes);
    const paths = requireStorablePaths(input.paths);
    const subscriptionId = randomUUID();
    const { secret, ...stored } = this.newSecret(subscriptionId);
    const subscription = await this.subscriptions.create(actedBy(principal, trace), {
      subscriptionId,
      tenantId,
      targetUrl,
      eventTypes,
      paths,
      ...stored,
    });
    return { subscription, secret };
  }

  async page({ tenantId, principalId }: Actor, at: PageRequest): Promise<Page<WebhookSubscriptionRecord>> {
    await this.access.require({ tenantId, principalId }, RULES.useWebhooks);
    return this.subscriptions.page(tenantId, at);
  }

  /** Throws `not_found`, also for a deleted subscription, or `forbidden`. */
  async get({ principalId }: Principal, subscriptionId: string): Promise<WebhookSubscriptionRecord> {
    const subscription = found(await this.subscriptions.find(subscriptionId));
    await this.access.require({ tenantId: subscription.tenantId, principalId }, RULES.useWebhooks);
    return subscription;
  }

  /** Changes only the given fields. A status that is already set keeps its time and reason. */
  async update(
    principal: Principal,
    trace: RequestTrace,
    subscriptionId: string,
    { targetUrl, eventTypes, paths, status }: SubscriptionChangeRequest,
  ): Promise<WebhookSubscriptionRecord> {
    await this.get(principal, subscriptionId);
    return found(
      await this.subscriptions.update(actedBy(principal, trace), subscriptionId, {
        status,
        targetUrl: targetUrl === undefined ? undefined : requireTargetUrl(targetUrl, this.settings.allowPrivateTargets),
        eventTypes: eventTypes === undefined ? undefined : this.requireEventTypes(eventTypes),
        paths: paths === undefined ? undefined : requireStorablePaths(paths),
      }),
    );
  }

  /**
   * Replaces the secret. Deliveries are signed with the new secret immediately, and during the grace period also with
   * the old one.
   */
  async rotateSecret(
    principal: Principal,
    trace: RequestTrace,
    subscriptionId: string,
    graceSeconds: number,
  ): Promise<CreatedSubscription> {
    await this.get(principal, subscriptionId);
    const { secret, ...stored } = this.newSecret(subscriptionId);
    const rotation = { ...stored, graceSeconds };
    const rotated = await this.subscriptions.rotate(actedBy(principal, trace), subscriptionId, rotation);
    return { subscription: found(rotated), secret };
  }

  async delete(principal: Principal, trace: RequestTrace, subscriptionId: string): Promise<void> {
    await this.get(principal, subscriptionId);
    if (!(await this.subscriptions.delete(actedBy(principal, trace), subscriptionId))) throw noSuchSubscription();
  }

  private newSecret(subscriptionId: string): { secret: string; secretSealed: string; secretFingerprint: string } {
    const secret = newWebhookSecret();
    const secretSealed = this.secrets.seal(secret, subscriptionId);
    return { secret, secretSealed, secretFingerprint: secretFingerprint(secret) };
  }

  private requireEventTypes(eventTypes: EventType[]): EventType[] {
    const max = this.settings.limits.eventTypes;
    if (eventTypes.length <= max) return eventTypes;
    const message = `must have at most ${max} items`;
    throw new DomainError('validation_error', `event_types ${message}.`, [
      { path: '/event_types', message, code: 'too_many' },
    ]);
  }
}

function actedBy({ principalId }: Principal, { requestId }: RequestTrace): ActedBy {
  return { principalId, requestId };
}

function found(subscription: WebhookSubscriptionRecord | null): WebhookSubscriptionRecord {
  if (subscription === null) throw noSuchSubscription();
  return subscription;
}

function noSuchSubscription(): DomainError {
  return new DomainError('not_found', "No such webhook subscription. List the tenant's subscriptions for their ids.");
}
