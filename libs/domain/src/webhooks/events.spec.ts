import { validate, version } from 'uuid';
import { buildEventBody, eventIdOf, newEventId, refreshRequestData } from './events';

describe('events', () => {
  it('buildEventBody returns the documented body', () => {
    const createdAt = new Date('2026-01-31T12:00:00Z');
    const data = { subscription_id: 'sub_1' };
    expect(buildEventBody({ eventId: '1', type: 'webhook.test', createdAt, tenantId: 't', data })).toBe(
      '{"id":"evt_1","type":"webhook.test","created_at":"2026-01-31T12:00:00.000Z","tenant_id":"t",' +
        '"data":{"subscription_id":"sub_1"}}',
    );
  });

  it('refreshRequestData leaves the message out, even if the record has one', () => {
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
      dueAt: null,
      overdueAt: null,
      closedAt: null,
      every: null,
      seriesId: null,
      previousRequestId: null,
      nextRequestId: null,
      nextAt: null,
      seriesEndReason: null,
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

  it('newEventId returns unique UUIDs that sort by time', () => {
    const ids = Array.from({ length: 1000 }, newEventId);
    expect(new Set(ids).size).toBe(1000);
    const times = ids.map((id) => id.slice(0, '00000000-0000'.length));
    expect([...times].sort()).toEqual(times);
    const [uuid = ''] = ids;
    expect(validate(uuid) && version(uuid)).toBe(7);
    expect(eventIdOf(uuid)).toBe(`evt_${uuid}`);
  });
});
