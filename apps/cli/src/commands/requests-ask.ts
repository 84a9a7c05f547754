import { type Command, textOf, textsOf } from '../command';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { momentToCome } from '../service/moments';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

export const askRequest: Command = {
  arguments: [SUBJECT_ARGUMENT],
  options: {
    path: {
      value: 'PATH',
      about: 'Part to update, such as /attributes/legal (default: all).',
      isRepeated: true,
    },
    reason: { value: 'CODE', about: 'Your own reason code.' },
    message: { value: 'TEXT', about: 'Message to the owner.' },
    due: { value: 'TIME', about: 'Due time, such as 14d.' },
    expires: { value: 'TIME', about: 'Expiry time, such as 30d.' },
    every: {
      value: 'DURATION',
      about: 'Repeat the request at this interval, such as P1Y or P3M, until you cancel it.',
    },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const paths = textsOf(options, 'path');
    const moment = (option: 'due' | 'expires'): string | null => {
      const text = textOf(options, option);
      return text === undefined ? null : momentToCome(option, text);
    };
    const asked = {
      ...(paths.length === 0 ? {} : { requested_paths: [...paths] }),
      reason_code: textOf(options, 'reason') ?? null,
      message: textOf(options, 'message') ?? null,
      due_at: moment('due'),
      expires_at: moment('expires'),
      every: textOf(options, 'every') ?? null,
    };
    await asCaller(options, context, async ({ tenant }) => {
      const { refreshRequests } = tenant.subject(type, id);
      const request = await refreshRequests.create({ requesting_tenant_id: tenant.tenantId, ...asked });
      showOne(options, context, request, ({ refresh_request_id: requestId }) =>
        visible(`Requested an update of ${type}/${id}: ${requestId}`),
      );
    });
  },
};
