import type { api } from '@identity-state/client';
import { getMember, isJsonObject, type JsonValue } from '@iss/domain';

/** Tells whether a document has the members of an envelope that commands read. The service checks the others. */
export function isEnvelope(document: JsonValue): document is JsonValue & api.Envelope {
  const subject = getMember(document, 'subject') ?? null;
  return (
    isJsonObject(document) &&
    typeof document['snapshot_version'] === 'number' &&
    ['subject_type', 'subject_id'].every((name) => typeof getMember(subject, name) === 'string')
  );
}
