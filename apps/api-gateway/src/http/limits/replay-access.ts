import {
  type AccessFacts,
  DomainError,
  isJsonObject,
  parseStoredJson,
  requireAccess,
  SUBSCRIPTION_PREFIX,
} from '@iss/domain';
import { RefreshRequestStore, TenancyStore, WebhookSubscriptionStore } from '@iss/persistence';
import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/current-principal.decorator';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { readBody } from '../request/json-body';
import { subjectOfPath, tenantIdOf, uuidOf } from '../request/path-params';
import { operationOf } from '../describe/operation.decorator';

/** Decides whether a caller may get a stored response again, by its current membership and role. */
@Injectable()
export class ReplayAccess {
  constructor(
    private readonly tenancy: TenancyStore,
    private readonly subscriptions: WebhookSubscriptionStore,
    private readonly refreshRequests: RefreshRequestStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Throws `forbidden` if it may not, and `not_found` for a deleted subscription. */
  async require(context: ExecutionContext): Promise<void> {
    const request = context.switchToHttp().getRequest<Request>();
    const operation = operationOf(context);
    const who = operation?.replayFor ?? operation?.who;
    if (who === undefined || (typeof who === 'object' && 'anyTenant' in who)) {
      throw new Error('a route with stored responses does not name the rule for its callers');
    }
    if (who === 'anyone' || who === 'any_principal') return;
    if ('role' in who) {
      requireAccess(await this.factsOf(request), who);
      return;
    }
    const { auth, legacy } = this.settings;
    if (!auth.legacyPathsArePublic) requireAccess(await this.memberOf(legacy.tenantId, request), who.legacyTenant);
  }

  /** Returns the caller's access facts in the acting tenant, which the path or the body names. */
  private async factsOf(request: Request): Promise<AccessFacts> {
    const { tenant_id, subscription_id, refresh_request_id } = request.params;
    if (tenant_id !== undefined) return this.memberOf(tenantIdOf(tenant_id), request);
    if (typeof subscription_id === 'string') {
      const uuid = uuidOf(subscription_id, { name: 'subscription_id', prefix: SUBSCRIPTION_PREFIX });
      const subscription = await this.subscriptions.find(uuid);
      if (subscription === null)
        throw new DomainError(
          'not_found',
          "No such webhook subscription. List the tenant's subscriptions for their ids.",
        );
      return this.memberOf(subscription.tenantId, request);
    }
    if (typeof refresh_request_id === 'string') {
      const { subject_type, subject_id } = request.params;
      const { facts } = await this.refreshRequests.find({
        ...subjectOfPath(String(subject_type), String(subject_id)),
        refreshRequestId: uuidOf(refresh_request_id, { name: 'refresh_request_id' }),
        principalId: principalOf(request).principalId,
      });
      return facts;
    }
    const body = parseStoredJson((await readBody(request)).toString());
    const tenantId = isJsonObject(body) ? (body['tenant_id'] ?? body['requesting_tenant_id']) : undefined;
    return this.memberOf(tenantIdOf(tenantId), request);
  }

  /** Assumes ownership of the subject, because the rule was satisfied when the response was created. */
  private async memberOf(tenantId: string, request: Request): Promise<AccessFacts> {
    const { principalId } = principalOf(request);
    return { ...(await this.tenancy.facts({ tenantId, principalId })), ownsSubject: true };
  }
}
