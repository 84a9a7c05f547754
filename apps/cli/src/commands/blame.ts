import type { api } from '@identity-state/client';
import { choiceOf, type Command, textOf, UsageError } from '../command';
import { shortValue } from '../leaves';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { evidenceText } from '../service/evidence';
import { VERSIONED_SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES = [
  'current',
  'carried',
  'missing',
  'none',
] as const satisfies readonly api.ProvedLeaf['evidence_status'][];

export const blame: Command = {
  about:
    'The service reports this provenance, and iss does not verify it. The evidence of a value is current, carried (older than the value), missing (removed) or none (never named).',
  arguments: [
    VERSIONED_SUBJECT_ARGUMENT,
    { name: 'path', about: 'JSON Pointer, such as /attributes/legal. Only values at or below it.', isOptional: true },
  ],
  options: {
    status: { value: 'STATUS', about: 'Evidence status.', choices: STATUSES },
    evidence: { value: 'ID', about: 'Evidence id.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const { subject, version } = versionedSubjectOf(textOf(options, 'subject') ?? '');
    const path = textOf(options, 'path');
    if (path?.startsWith('/') === false)
      throw new UsageError('PATH must be a JSON Pointer, such as /attributes/legal.');
    const style = styleOf(context.screen);
    const [status, evidenceId] = [choiceOf(options, 'status', STATUSES), textOf(options, 'evidence')];
    const filter = {
      ...(path === undefined ? {} : { path }),
      ...(version === null ? {} : { version }),
      ...(status === undefined ? {} : { evidence_status: status }),
      ...(evidenceId === undefined ? {} : { evidence_id: evidenceId }),
    };
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, tenant.subject(subject.type, subject.id).provenance(filter), {
        none: status === undefined && evidenceId === undefined ? 'There are no values.' : 'No value matches.',
        paint: { since: style.yellow, path: style.cyan },
        asRow: ({
          path: place,
          value,
          since_version: since,
          since: at,
          changed_by: by,
          evidence,
          evidence_status: status,
        }) => ({
          since: `@${since} ${at.effective_at}`,
          by: visible(by ?? ''),
          evidence: `${evidenceText(evidence)}${status === 'current' || status === 'none' ? '' : `, ${status}`}`,
          path: visible(place),
          value: shortValue(value),
        }),
      }),
    );
  },
};
