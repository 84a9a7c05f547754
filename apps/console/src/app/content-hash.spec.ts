/** @jest-environment ./src/testing/environment.cjs */
import '../testing/worker.ts';
import { hashContent } from './content-hash.ts';
import { hashOf } from './hash-of.ts';
import { FakeWorker } from '../testing/worker.ts';

const started: string[] = [];
class NotedWorker extends FakeWorker {
  override postMessage(message: { id: number; request: unknown }): void {
    started.push('task');
    super.postMessage(message);
  }
}

beforeEach(() => {
  globalThis.Worker = NotedWorker;
  started.length = 0;
});

it.each([
  ['small content', { attributes: { legal: { legal_name: 'Acme AG' } } }, []],
  ['many values', { attributes: Array.from({ length: 3_000 }, (_, index) => ({ index })) }, ['task']],
  ['a long text', { attributes: { text: 'x'.repeat(200_000) } }, ['task']],
])('hashContent returns the hash of %s, in a worker if the content is large', async (_name, content, tasks) => {
  expect(await hashContent(content)).toBe(hashOf(content));
  expect(started).toEqual(tasks);
});
