import type { SubjectSearch } from '@iss/persistence';
import { SubjectListQuery } from '@iss/contract';
import { contentSearch } from '../../http/request/content-search';

/** Returns the requested search. Throws `validation_error` for two searches at once, and for an invalid identifier. */
export function searchSent(sent: SubjectListQuery): SubjectSearch {
  const { subject_id_prefix, evidence } = sent;
  const search = contentSearch(sent, { subject_id_prefix, evidence });
  return search ?? { by: 'id', prefix: subject_id_prefix ?? '', evidence: evidence ?? null };
}
