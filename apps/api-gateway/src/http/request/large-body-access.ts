import type { Role } from '@iss/domain';
import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AccessService } from '../../access/access.service';
import { principalOf } from '../../auth/current-principal.decorator';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { tenantIdOf } from './path-params';
import { operationOf } from '../describe/operation.decorator';

/**
 * Decides whether a caller may have a large body read. A caller without rights is refused at the cost of one lookup. A
 * small body is checked for its form first, because that takes less time than a statement.
 */
@Injectable()
export class LargeBodyAccess {
  constructor(
    private readonly reflector: Reflector,
    private readonly access: AccessService,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /**
   * Throws `forbidden` unless the caller has this role in the acting tenant. Does nothing if only the body names the
   * tenant.
   */
  async require(context: ExecutionContext, role: Role): Promise<void> {
    const request = context.switchToHttp().getRequest<Request>();
    const tenantId = this.tenantOf(context, request);
    if (tenantId === undefined) return;
    await this.access.require({ tenantId, principalId: principalOf(request).principalId }, { role });
  }

  private tenantOf(context: ExecutionContext, { params }: Request): string | undefined {
    const { tenant_id } = params;
    if (tenant_id !== undefined) return tenantIdOf(tenant_id);
    const who = operationOf(context)?.who;
    const isLegacy = typeof who === 'object' && 'legacyTenant' in who;
    const { auth, legacy } = this.settings;
    return isLegacy && !auth.legacyPathsArePublic ? legacy.tenantId : undefined;
  }
}
