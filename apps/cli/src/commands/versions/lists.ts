import type { api } from '@identity-state/client';
import { defineList, listing } from '../../service/define';
import { OPTIONAL_SUBJECT, SUBJECT_TYPES } from '../../service/subject-name';

export const subjects = defineList({
  about: 'All given filters must match. For the subjects of other tenants, see iss grants --held.',
  options: {
    type: { value: 'TYPE', about: `${SUBJECT_TYPES.join(', ')}.`, choices: SUBJECT_TYPES },
    prefix: { value: 'TEXT', about: 'Start of the subject id.' },
    identifier: { value: 'SCHEME:VALUE', about: 'Identifier, such as lei:5493001KJTIIGC8Y1R12.' },
    query: { value: 'TEXT', about: 'Start of the name.' },
    evidence: {
      value: 'WHICH',
      about: 'missing or carried: only subjects with such evidence (see iss blame).',
      choices: ['missing', 'carried'],
    },
  },
  list({ type, prefix, identifier, query, evidence }) {
    const filter = {
      ...(type === undefined ? {} : { subject_type: type }),
      ...(prefix === undefined ? {} : { subject_id_prefix: prefix }),
      ...(identifier === undefined ? {} : { identifier }),
      ...(query === undefined ? {} : { q: query }),
      ...(evidence === undefined ? {} : { evidence }),
    };
    return listing({
      items: ({ tenant }) => tenant.subjects(filter),
      none: 'No subject matches.',
      paint: { subject: 'yellow' },
      columns: ({ subject_type: type, subject_id: id, name, latest_snapshot: latest }: api.Subject) => ({
        name,
        subject: `${type}/${id}@${latest.snapshot_version}`,
        stored: latest.created_at,
        hash: latest.envelope_hash ?? 'none',
      }),
    });
  },
});

export const erasures = defineList({
  about: 'Newest first, with the status of each and with the people who requested and confirmed it (docs/erasure.md).',
  arguments: { subject: OPTIONAL_SUBJECT },
  list: ({ subject }) =>
    listing({
      items: ({ tenant }) => (subject === undefined ? tenant : tenant.subject(subject.type, subject.id)).erasures(),
      none: 'There are no erasures.',
      paint: { erasure: 'yellow' },
      columns: (erasure) => ({
        erasure: erasure.erasure_id,
        ...(subject === undefined ? { subject: `${erasure.subject_type}/${erasure.subject_id}` } : {}),
        versions: erasure.versions.join(', '),
        status: erasure.status,
        'asked by': erasure.requested_by,
        'confirmed by': erasure.confirmed_by,
      }),
    }),
});
