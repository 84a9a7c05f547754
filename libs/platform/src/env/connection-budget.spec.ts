import { connectionsOf } from './connection-budget';

it('connectionsOf counts each process twice, and adds connections for several hosts and the queue', () => {
  const deployment = { gateways: 3, workers: 2, poolSize: 10, hosts: 1, isQueueOnPostgres: false };
  expect(connectionsOf(deployment)).toBe(2 * 5 * 10 + 10);
  expect(connectionsOf({ ...deployment, hosts: 2 })).toBe(2 * 5 * 11 + 10);
  expect(connectionsOf({ ...deployment, isQueueOnPostgres: true })).toBe(2 * (3 * 14 + 2 * 18) + 10);
});
