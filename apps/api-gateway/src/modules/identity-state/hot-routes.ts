import type { INestApplicationContext } from '@nestjs/common';
import type { HotCall, HotRoute } from '../../http/fast/hot-lane';
import { subjectOf, tenantIdOf, uuidOf, versionOf } from '../../http/request/path-params';
import { requireShape } from '../../http/request/shape';
import { EntityStatesController } from './write/entity-states.controller';
import { SnapshotsController } from './read/snapshots.controller';
import { ProposeSubjectUpdateBody, ProposeUpdateBody } from './updates/update.dto';
import { UpdatesController } from './updates/updates.controller';

const tenantId = ({ param }: HotCall): string => tenantIdOf(param('tenant_id'));
const subject = ({ param }: HotCall): { subjectType: string; subjectId: string } =>
  subjectOf(param('subject_type'), param('subject_id'));
const updateId = ({ param }: HotCall): string => uuidOf(param('update_id'), { name: 'update_id' });
const snapshotId = ({ param }: HotCall): string => uuidOf(param('snapshot_id'), { name: 'snapshot_id' });

const TENANT = '/v1/tenants/:tenant_id';
const SUBJECT = `${TENANT}/subjects/:subject_type/:subject_id`;

/** The routes of this module that carry nearly all the load: single reads, and the three writes. */
export function hotRoutes(app: INestApplicationContext): HotRoute[] {
  const snapshots = app.get(SnapshotsController, { strict: false });
  const entityStates = app.get(EntityStatesController, { strict: false });
  const updates = app.get(UpdatesController, { strict: false });
  return [
    {
      method: 'GET',
      path: `${SUBJECT}/snapshots/latest`,
      status: 200,
      handle: async (call) => snapshots.latestForTenant(tenantId(call), subject(call), {}, call.principal),
    },
    {
      method: 'GET',
      path: `${SUBJECT}/snapshots/:snapshot_version`,
      status: 200,
      handle: async (call) =>
        snapshots.versionForTenant(
          tenantId(call),
          subject(call),
          versionOf(call.param('snapshot_version')),
          {},
          call.principal,
        ),
    },
    {
      method: 'GET',
      path: `${TENANT}/snapshots/:snapshot_id`,
      status: 200,
      handle: async (call) => snapshots.idForTenant(tenantId(call), snapshotId(call), {}, call.principal),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-states`,
      status: 201,
      handle: async (call) => entityStates.submit(tenantId(call), call.principal, call.trace, await call.body()),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-state-updates`,
      status: 201,
      handle: async (call) =>
        updates.propose(
          tenantId(call),
          call.principal,
          requireShape(ProposeUpdateBody, await call.body()),
          call.response,
        ),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-state-updates/:update_id/apply`,
      status: 201,
      handle: async (call) => updates.apply(tenantId(call), updateId(call), call.principal, call.trace),
    },
    {
      method: 'POST',
      path: `${SUBJECT}/updates`,
      status: 201,
      handle: async (call) =>
        updates.proposeForSubject(
          tenantId(call),
          subject(call),
          call.principal,
          requireShape(ProposeSubjectUpdateBody, await call.body()),
          call.response,
        ),
    },
    {
      method: 'POST',
      path: `${SUBJECT}/updates/:update_id/apply`,
      status: 200,
      handle: async (call) =>
        updates.applyForSubject(tenantId(call), subject(call), updateId(call), call.principal, call.trace),
    },
  ];
}
