import { RULES } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { documented } from '../../../http/describe/openapi';
import { bodyBy, bodyOf } from '../../../http/request/json-body';
import { subjectOf } from '../../../http/request/path-params';
import { type Proposal, ProposeSubjectUpdateBody, ProposeUpdateBody } from '../../../runtime/proposal';

type Family = 'tenant' | 'subject';

const readProposal = createParamDecorator(async (family: Family, context: ExecutionContext): Promise<Proposal> => {
  const { params, settings } = context.switchToHttp().getRequest<Request>();
  const { subject_type, subject_id } = params;
  const subject = family === 'tenant' ? null : subjectOf(String(subject_type), String(subject_id));
  const maxOperations = settings.limits.patchOperations;
  return bodyBy(context, RULES.proposeUpdate.role, 'read_proposal', (body) => ({ ...body, maxOperations, subject }));
});

const BODIES = { tenant: ProposeUpdateBody, subject: ProposeSubjectUpdateBody };

/** Injects the proposal in the body, in the form of a path family. Throws like `JsonBody`. */
export function ProposalBody(family: Family): ParameterDecorator {
  return documented(readProposal(family), bodyOf(BODIES[family]));
}
