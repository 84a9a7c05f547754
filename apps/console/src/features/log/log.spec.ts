/** @jest-environment ./src/testing/environment.cjs */
import '../../testing/dom.ts';
import type { api } from '@identity-state/client';
import { policyTextOf } from '../../entities/trusted-keys.ts';
import { TEXT } from './words.ts';
import { pointsOf, samplesOf } from './log-view.tsx';

const entry = (index: number, at: string): api.ChangePage['items'][number] => ({
  log_index: index,
  type: 'tenant.owner_changed',
  tenant_id: 'acme',
  principal_id: 'oidc:dev#alice',
  from_principal_id: null,
  changed_at: at,
});

it('pointsOf returns the log size at each entry, without entries whose time goes back', () => {
  const entries = [
    entry(0, '2026-01-01T00:00:00Z'),
    entry(4, '2026-01-03T00:00:00Z'),
    entry(5, '2026-01-02T00:00:00Z'),
  ];
  expect(pointsOf([...entries, entry(7, '2026-01-03T00:00:00Z')]).map(({ size }) => size)).toEqual([1, 5, 8]);
});

it.each([
  [[1, 2, 3], 3, [1, 2, 3]],
  [[1, 2, 3, 4, 5], 3, [1, 3, 5]],
  [[1, 2, 3, 4], 2, [1, 4]],
])('samplesOf thins %j to %i', (items, count, expected) => {
  expect(samplesOf(items, count)).toEqual(expected);
});

it.each([
  [89, '89 s'],
  [90, '2 min'],
  [5_399, '90 min'],
  [5_400, '2 h'],
  [129_599, '36 h'],
  [129_600, '2 days'],
])('an age of %i s is shown as %s', (seconds, expected) => {
  expect(TEXT.ageOf(seconds)).toBe(expected);
});

it.each([
  ['log a\n', null, 'log a\n'],
  [null, null, 'log key-1\nlog key-2\nquorum none\n'],
  [null, 'VRF+a', 'log key-1\nlog key-2\nvrf VRF+a\nquorum none\n'],
])('policyTextOf returns the policy %j, or one made of the keys and the VRF key %j', (policy, vrf_key, expected) => {
  const vkeys = ['key-1', 'key-2'].map((vkey) => ({ vkey, from: '', until: null }));
  const keys = { log_origin: 'log', vkeys, witnesses: [], quorum: 0, policy, vrf_key, map_starts_at: null };
  expect(policyTextOf(keys)).toBe(expected);
});
