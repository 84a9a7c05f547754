import { useEffect, useState } from 'react';
import { BASE } from './settings.ts';
import type { TaskMessage } from './worker-side.ts';

declare global {
  /** With Trusted Types in the Content-Security-Policy, the address of a worker is an object; here it has the type of a text. */
  var trustedTypes:
    | {
        createPolicy(
          name: string,
          rules: { createScriptURL(url: string): string },
        ): { createScriptURL(url: string): string };
      }
    | undefined;
}

/** Allows only workers from the files of the build. */
const rules = {
  createScriptURL(url: string): string {
    const { origin, pathname } = new URL(url, location.href);
    if (origin !== location.origin || !pathname.startsWith(`${BASE}/assets/`)) throw new TypeError(url);
    return url;
  },
};
const addresses = globalThis.trustedTypes?.createPolicy('console', rules) ?? rules;

/** Starts a worker of the console; `url` comes from an import of its file that ends in `?worker&url`. */
export function startWorker(url: string): Worker {
  return new Worker(addresses.createScriptURL(url), { type: 'module' });
}

/** A worker for one kind of task, one or several at a time; {@link serve} is its other side. */
export class WorkerRoom<Request, Progress, Result> {
  private worker: Worker | null = null;
  private readonly waiting = new Map<
    number,
    { tell: (progress: Progress) => void; resolve: (result: Result) => void; reject: (error: Error) => void }
  >();
  private last = 0;

  constructor(private readonly url: string) {}

  /** Starts the worker before its first task, so that it needs no network afterwards. */
  start(): void {
    if (this.worker !== null) return;
    this.worker = startWorker(this.url);
    this.worker.addEventListener('message', ({ data }: MessageEvent<TaskMessage<Progress, Result>>) => this.take(data));
    this.worker.addEventListener('error', (event) => this.end(new Error(event.message || this.url)));
  }

  async run(request: Request, tell: (progress: Progress) => void = () => undefined): Promise<Result> {
    this.start();
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { tell, resolve, reject });
      this.worker?.postMessage({ id, request });
    });
  }

  /** Ends the running tasks. The next task starts another worker. */
  end(reason: Error = new DOMException('The task was ended.', 'AbortError')): void {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(reason);
    this.waiting.clear();
  }

  private take(answer: TaskMessage<Progress, Result>): void {
    const waiting = this.waiting.get(answer.id);
    if (answer.is === 'progress') return waiting?.tell(answer.progress);
    this.waiting.delete(answer.id);
    if (answer.is === 'done') waiting?.resolve(answer.result);
    else waiting?.reject(new Error(answer.message));
  }
}

/** Returns a worker that ends with the view. */
export function useWorkerRoom<Request, Progress, Result>(url: string): WorkerRoom<Request, Progress, Result> {
  const [room] = useState(() => new WorkerRoom<Request, Progress, Result>(url));
  useEffect(() => {
    room.start();
    return () => room.end();
  }, [room]);
  return room;
}
