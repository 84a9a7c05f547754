import type { api } from '@identity-state/client';
import { choiceOf, type Command, textOf } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_TYPES } from '../service/subject-name';
import { visible } from '../visible';

const EVIDENCE = ['missing', 'carried'] as const;

/** Lists subjects. */
export const subjects: Command = {
  about:
    'Those that your tenant owns; what it may read of others is listed by iss grants --held. Filters narrow the list together.',
  options: {
    type: { value: 'TYPE', about: 'Of one type alone.', choices: SUBJECT_TYPES },
    prefix: { value: 'TEXT', about: 'Whose ids begin so.' },
    identifier: { value: 'SCHEME:VALUE', about: 'That have this identifier, as lei:5493001KJTIIGC8Y1R12.' },
    query: { value: 'TEXT', about: 'Whose name begins so.' },
    evidence: {
      value: 'WHICH',
      about: 'With values whose evidence is gone, or older than they are.',
      choices: EVIDENCE,
    },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const filter = {
      subject_type: choiceOf(options, 'type', SUBJECT_TYPES),
      subject_id_prefix: textOf(options, 'prefix'),
      identifier: textOf(options, 'identifier'),
      q: textOf(options, 'query'),
      evidence: choiceOf(options, 'evidence', EVIDENCE),
    };
    const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, tenant.subjects(given), {
        none: 'There is no such subject.',
        paint: { subject: style.yellow },
        asRow: rowOf,
      }),
    );
  },
};

function rowOf({ subject_type: type, subject_id: id, latest_snapshot: latest }: api.Subject) {
  return {
    subject: visible(`${type}/${id}@${latest.snapshot_version}`),
    stored: latest.created_at,
    hash: latest.envelope_hash ?? 'none',
  };
}
