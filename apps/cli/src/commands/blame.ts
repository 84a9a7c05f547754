import type { api } from '@identity-state/client';
import { choiceOf, type Command, textOf, UsageError } from '../command';
import { shortValue } from '../leaves';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { evidenceText } from '../service/evidence';
import { SUBJECT_ARGUMENT, versionedSubjectOf } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES = [
  'current',
  'carried',
  'missing',
  'none',
] as const satisfies readonly api.ProvedLeaf['evidence_status'][];

/** Shows of each value since when, by whom and from which evidence it stands. */
export const blame: Command = {
  about:
    'As the service says: provenance is not verified here (docs/provenance.md). A value is marked where its evidence is older ' +
    'than it (carried), is gone (missing), or was never named (none).',
  usage:
    'SUBJECT[@VERSION] [PATH] [--status STATUS] [--evidence ID] [--limit N] [--json] [--tenant ID] [--profile NAME]',
  arguments: [
    SUBJECT_ARGUMENT,
    { name: 'path', about: 'The values at or below this JSON Pointer, as /attributes/legal.', isOptional: true },
  ],
  options: {
    status: { value: 'STATUS', about: `Those whose evidence is ${STATUSES.join(', ')}.`, choices: STATUSES },
    evidence: { value: 'ID', about: 'Those that rest on this evidence.' },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const { subject, version } = versionedSubjectOf(textOf(options, 'subject') ?? '');
    const path = textOf(options, 'path');
    if (path?.startsWith('/') === false) throw new UsageError('PATH is a JSON Pointer, as /attributes/legal.');
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
        none: status === undefined && evidenceId === undefined ? 'It has no values.' : 'It has no such value.',
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
