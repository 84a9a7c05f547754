import { validate, version } from 'uuid';
import { buildEventBody, eventIdOf, newEventId, refreshRequestData, snapshotCreatedData, uuidOfEvent } from './events';

describe('events', () => {
  it('builds the body that the contract fixes', () => {
    const data = snapshotCreatedData({
      subjectType: 'entity',
      subjectId: 'acme',
      snapshotId: '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
      snapshotVersion: 2,
      envelopeHash: 'ab',
      prevHash: 'cd',
    });
    const createdAt = new Date('2026-01-31T12:00:00Z');
    const body = buildEventBody({ id: 'evt_1', type: 'identity.snapshot.created', createdAt, tenantId: 't', data });
    expect(JSON.parse(body)).toEqual({
      id: 'evt_1',
      type: 'identity.snapshot.created',
      created_at: '2026-01-31T12:00:00.000Z',
      tenant_id: 't',
      data: {
        subject: { subject_type: 'entity', subject_id: 'acme' },
        snapshot_id: '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
        snapshot_version: 2,
        envelope_hash: 'ab',
        prev_hash: 'cd',
      },
    });
  });

  it('leaves the message of a refresh request out, also when the record carries one', () => {
    const record = {
      refreshRequestId: 'r1',
      subjectType: 'entity',
      subjectId: 'acme',
      requestingTenantId: 'beta',
      originType: 'counterparty',
      status: 'fulfilled',
      reasonCode: null,
      message: 'personal',
      requestedPaths: ['/attributes/legal'],
      createdAt: new Date(0),
      expiresAt: null,
      resolvedAt: new Date(1),
      resolvedSnapshotId: 's1',
      resolvedSnapshotVersion: 3,
    } as const;
    const data = refreshRequestData(record);
    expect(data).not.toHaveProperty('message');
    expect(data).toMatchObject({
      refresh_request_id: 'r1',
      request_id: 'r1',
      subject: { subject_type: 'entity', subject_id: 'acme' },
      subject_id: 'acme',
      resolved_at: '1970-01-01T00:00:00.001Z',
      fulfilled_at: '1970-01-01T00:00:00.001Z',
      fulfilled_snapshot_id: 's1',
      expires_at: null,
    });
  });

  it('makes ids that are unique, sort by time and carry their UUID', () => {
    const ids = Array.from({ length: 1000 }, newEventId);
    expect(new Set(ids).size).toBe(1000);
    const times = ids.map((id) => id.slice('evt_'.length, 'evt_00000000-0000'.length));
    expect([...times].sort()).toEqual(times);
    const uuid = uuidOfEvent(ids[0] ?? '');
    expect(validate(uuid) && version(uuid)).toBe(7);
    expect(eventIdOf(uuid)).toBe(ids[0]);
    expect(uuidOfEvent(uuid)).toBe(uuid);
  });
});
