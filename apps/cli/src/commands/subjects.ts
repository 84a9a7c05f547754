import type { api } from '@identity-state/client';
import { choiceOf, type Command, textOf } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_TYPES } from '../service/subject-name';
import { visible } from '../visible';

const EVIDENCE = ['missing', 'carried'] as const;

export const subjects: Command = {
  about: 'All given filters must match. For the subjects of other tenants, see iss grants --held.',
  options: {
    type: { value: 'TYPE', about: `${SUBJECT_TYPES.join(', ')}.`, choices: SUBJECT_TYPES },
    prefix: { value: 'TEXT', about: 'Start of the subject id.' },
    identifier: { value: 'SCHEME:VALUE', about: 'Identifier, such as lei:5493001KJTIIGC8Y1R12.' },
    query: { value: 'TEXT', about: 'Start of the name.' },
    evidence: {
      value: 'WHICH',
      about: 'missing or carried: only subjects with such evidence (see iss blame).',
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
        none: 'No subject matches.',
        paint: { subject: style.yellow },
        asRow: rowOf,
      }),
    );
  },
};

function rowOf({ subject_type: type, subject_id: id, name, latest_snapshot: latest }: api.Subject) {
  return {
    name: visible(name ?? ''),
    subject: visible(`${type}/${id}@${latest.snapshot_version}`),
    stored: latest.created_at,
    hash: latest.envelope_hash ?? 'none',
  };
}
