import type { Acting, Reader } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/current-principal.decorator';
import { tenantIdOf } from './path-params';
import { RequestAsker } from './request-asker';

/** Injects the caller, acting for the tenant of the path in this request. */
export const ActorParam = createParamDecorator((_: unknown, context: ExecutionContext): Acting => {
  const request = context.switchToHttp().getRequest<Request>();
  return {
    tenantId: tenantIdOf(request.params['tenant_id']),
    principalId: principalOf(request).principalId,
    requestId: request.requestId,
  };
});

/** Injects the caller as a reader: for the tenant of the path, or for any of its tenants if the path names none. */
export const ReaderParam = createParamDecorator(
  (_: unknown, context: ExecutionContext): Reader => new RequestReader(context.switchToHttp().getRequest<Request>()),
);

class RequestReader extends RequestAsker implements Reader {
  readonly tenantId: string | null;

  constructor(request: Request) {
    const { tenant_id } = request.params;
    const tenantId = tenant_id === undefined ? null : tenantIdOf(tenant_id);
    super(request);
    this.tenantId = tenantId;
  }
}
