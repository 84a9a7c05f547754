import { RULES, type SentEnvelope } from '@iss/domain';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { bodyBy } from '../../../http/request/json-body';

/** Injects the sealed envelope of the body. Throws like `JsonBody`, and `validation_error` with every problem. */
export const EnvelopeBody = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<SentEnvelope> =>
  bodyBy(context, RULES.submitFirstState.role, 'read_envelope', (body) => body),
);
