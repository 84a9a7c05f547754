import { shown } from '../../http/describe/field';
import { part, view, type ViewOf } from '../../http/describe/view';
import { oneOf, sentTime, text } from '../../http/request/fields';

export const Health = view('Health', { status: shown<'ok'>({ type: 'string', const: 'ok' }) });
export type Health = ViewOf<typeof Health>;

const Check = view('Check', { status: oneOf(['ok', 'degraded', 'failed']), detail: text.optional() });

export const Readiness = view('Readiness', {
  status: oneOf(['ready', 'not_ready']),
  checks: part({ database: Check, migrations: Check, queue: Check, outbox: Check }),
});

/** Specification, "Utility": what runs here. */
export const Meta = view('Meta', {
  service: text,
  ts: sentTime,
  version: text,
  node: text,
  env: text,
  gitSha: text,
  builtAt: sentTime,
});
export type Meta = ViewOf<typeof Meta>;

const OK = { status: 'ok' } as const;
export const ALL_OK = { database: OK, migrations: OK, queue: OK, outbox: OK };
export const META_EXAMPLE: Meta = {
  service: 'identity-state-service',
  ts: '2026-01-15T09:00:00.000Z',
  version: '1.0.0',
  node: 'v26.10.0',
  env: 'production',
  gitSha: '3f1c2d4',
  builtAt: '2026-01-10T12:00:00.000Z',
};
