import { buildEventBody, newEventId, snapshotCreatedData, uuidOfEvent } from '@iss/domain';

/** The event that tells a tenant of its new snapshot: its id, and the body that every delivery of it carries. */
export function snapshotCreated(
  tenantId: string,
  header: Parameters<typeof snapshotCreatedData>[0],
): { eventId: string; eventBody: string } {
  const id = newEventId();
  const eventBody = buildEventBody({
    id,
    type: 'identity.snapshot.created',
    createdAt: new Date(),
    tenantId,
    data: snapshotCreatedData(header),
  });
  return { eventId: uuidOfEvent(id), eventBody };
}
