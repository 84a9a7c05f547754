import express, { type Request, type Response } from 'express';
import { inBatches } from './request-batches';

/** Requests of which only the path matters. */
const some = (...paths: string[]): [Request, Response][] =>
  paths.map((url) => [Object.assign(Object.create(express.request), { url }), Object.create(express.response)]);

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('inBatches passes on all requests of one turn in order, before any next stage', async () => {
  const seen: string[] = [];
  const take = inBatches((request) => {
    seen.push(request.url);
    queueMicrotask(() => seen.push(`${request.url}, next stage`));
  });
  for (const pair of some('/a', '/b')) take(...pair);
  expect(seen).toEqual([]);
  await endOfTurn();
  expect(seen).toEqual(['/a', '/b', '/a, next stage', '/b, next stage']);
});

it('inBatches does not pass on a request that was answered in the same turn', async () => {
  const seen: string[] = [];
  const take = inBatches((request) => seen.push(request.url));
  const [answered, other] = some('/answered', '/other');
  for (const pair of [answered, other]) if (pair !== undefined) take(...pair);
  if (answered !== undefined) Object.defineProperty(answered[1], 'writableEnded', { value: true });
  await endOfTurn();
  expect(seen).toEqual(['/other']);
});

it('inBatches passes on each request once, also one that arrives during a batch', async () => {
  const seen: string[] = [];
  const [late] = some('/late');
  const take = inBatches((request) => {
    seen.push(request.url);
    if (request.url === '/first' && late !== undefined) take(...late);
  });
  for (const pair of some('/first')) take(...pair);
  await endOfTurn();
  expect(seen).toEqual(['/first', '/late']);
});
