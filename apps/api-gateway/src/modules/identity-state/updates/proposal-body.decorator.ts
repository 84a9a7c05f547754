import { RULES } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { bodyBy } from '../../../http/request/json-body';
import { subjectOfPath } from '../../../http/request/path-params';
import type { Proposal } from '../../../runtime/proposal';

/** Injects the proposal in the body, in the form of the path family. Throws like `JsonBody`. */
export const ProposalBody = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<Proposal> => {
  const { params, settings } = context.switchToHttp().getRequest<Request>();
  const { subject_type, subject_id } = params;
  const subject = subject_type === undefined ? null : subjectOfPath(String(subject_type), String(subject_id));
  const maxOperations = settings.limits.patchOperations;
  return bodyBy(context, RULES.proposeUpdate.role, 'read_proposal', (body) => ({ ...body, maxOperations, subject }));
});
