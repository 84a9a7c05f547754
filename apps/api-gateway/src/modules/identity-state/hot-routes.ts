import type { Actor, SubjectRef } from '@iss/domain';
import type { INestApplicationContext } from '@nestjs/common';
import type { HotCall, HotRoute } from '../../http/fast/hot-lane';
import { subjectOf, tenantIdOf, uuidOf, versionOf } from '../../http/request/path-params';
import { EntityStatesController } from './write/entity-states.controller';
import { SnapshotsController } from './read/snapshots.controller';
import { ProposeSubjectUpdateBody, ProposeUpdateBody } from './updates/update.views';
import { UpdatesController } from './updates/updates.controller';

const actor = ({ param, principal }: HotCall): Actor => ({
  tenantId: tenantIdOf(param('tenant_id')),
  principalId: principal.principalId,
});
const subject = ({ param }: HotCall): SubjectRef => subjectOf(param('subject_type'), param('subject_id'));
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
      handle: async (call) => snapshots.latestForTenant(actor(call), subject(call), {}),
    },
    {
      method: 'GET',
      path: `${SUBJECT}/snapshots/:snapshot_version`,
      status: 200,
      handle: async (call) =>
        snapshots.versionForTenant(actor(call), subject(call), versionOf(call.param('snapshot_version')), {}),
    },
    {
      method: 'GET',
      path: `${TENANT}/snapshots/:snapshot_id`,
      status: 200,
      handle: async (call) => snapshots.idForTenant(actor(call), snapshotId(call), {}),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-states`,
      status: 201,
      handle: async (call) => entityStates.submit(actor(call), call.trace, await call.body()),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-state-updates`,
      status: 201,
      handle: async (call) => updates.propose(actor(call), ProposeUpdateBody.require(await call.body()), call.response),
    },
    {
      method: 'POST',
      path: `${TENANT}/entity-state-updates/:update_id/apply`,
      status: 201,
      handle: async (call) => updates.apply(actor(call), updateId(call), call.trace),
    },
    {
      method: 'POST',
      path: `${SUBJECT}/updates`,
      status: 201,
      handle: async (call) =>
        updates.proposeForSubject(
          actor(call),
          subject(call),
          ProposeSubjectUpdateBody.require(await call.body()),
          call.response,
        ),
    },
    {
      method: 'POST',
      path: `${SUBJECT}/updates/:update_id/apply`,
      status: 200,
      handle: async (call) => updates.applyForSubject(actor(call), subject(call), updateId(call), call.trace),
    },
  ];
}
