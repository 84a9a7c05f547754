import type { api } from '@identity-state/client';
import { UsageError } from '../../command';
import { shortValue } from '../../service/leaves';
import { defineList, listing } from '../../service/define';
import { evidenceText } from '../../service/evidence';
import { VERSIONED_SUBJECT } from '../../service/subject-name';

const STATUSES = [
  'current',
  'carried',
  'missing',
  'none',
  'revoked',
] as const satisfies readonly api.ProvedLeaf['evidence_status'][];

export const blame = defineList({
  about:
    'The service reports this provenance, and iss does not verify it. The evidence of a value is current, carried (older than the value), missing (removed), none (never named) or revoked (by the issuer of a credential).',
  arguments: {
    subject: VERSIONED_SUBJECT,
    path: {
      about: 'JSON Pointer, such as /attributes/legal. Only values at or below it.',
      isOptional: true,
      read: pointerOf,
    },
  },
  options: {
    status: { value: 'STATUS', about: 'Evidence status.', choices: STATUSES },
    evidence: { value: 'ID', about: 'Evidence id.' },
  },
  list({ subject: { subject, version }, path, status, evidence: evidenceId }) {
    const filter = {
      ...(path === undefined ? {} : { path }),
      ...(version === null ? {} : { version }),
      ...(status === undefined ? {} : { evidence_status: status }),
      ...(evidenceId === undefined ? {} : { evidence_id: evidenceId }),
    };
    return listing({
      items: ({ tenant }) => tenant.subject(subject.type, subject.id).provenance(filter),
      none: status === undefined && evidenceId === undefined ? 'There are no values.' : 'No value matches.',
      paint: { since: 'yellow', path: 'cyan' },
      columns: ({ since_version: since, since: at, changed_by: by, evidence, evidence_status: is, ...leaf }) => ({
        since: `@${since} ${at.effective_at}`,
        by,
        evidence: `${evidenceText(evidence)}${is === 'current' || is === 'none' ? '' : `, ${is}`}`,
        path: leaf.path,
        value: shortValue(leaf.value),
      }),
    });
  },
});

function pointerOf(text: string): string {
  if (text.startsWith('/')) return text;
  throw new UsageError('PATH must be a JSON Pointer, such as /attributes/legal.');
}
