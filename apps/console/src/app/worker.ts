import { useEffect, useState } from 'react';
import { BASE } from './settings.ts';
import type { Answer } from './worker-side.ts';

declare global {
  /** Where the Content-Security-Policy asks for Trusted Types, a worker's address is one; what gives it stands for a text here. */
  var trustedTypes:
    | {
        createPolicy(
          name: string,
          rules: { createScriptURL(url: string): string },
        ): { createScriptURL(url: string): string };
      }
    | undefined;
}

/** Only files that the build made run. */
const rules = {
  createScriptURL(url: string): string {
    const { origin, pathname } = new URL(url, location.href);
    if (origin !== location.origin || !pathname.startsWith(`${BASE}/assets/`)) throw new TypeError(url);
    return url;
  },
};
const addresses = globalThis.trustedTypes?.createPolicy('console', rules) ?? rules;

/** A worker of the console, for heavy work: `url` comes from an import of its file that ends in `?worker&url`. */
export function startWorker(url: string): Worker {
  return new Worker(addresses.createScriptURL(url), { type: 'module' });
}

/** A worker that does one kind of work, a piece at a time or several; {@link serve} is its other side. */
export class WorkerRoom<Request, Progress, Result> {
  private worker: Worker | null = null;
  private readonly waiting = new Map<
    number,
    { tell: (progress: Progress) => void; resolve: (result: Result) => void; reject: (error: Error) => void }
  >();
  private last = 0;

  constructor(private readonly url: string) {}

  /** Starts it before there is work: afterwards it needs no network. */
  start(): void {
    if (this.worker !== null) return;
    this.worker = startWorker(this.url);
    this.worker.addEventListener('message', ({ data }: MessageEvent<Answer<Progress, Result>>) => this.take(data));
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

  /** Ends what is under way; the next piece of work starts another worker. */
  end(reason: Error = new DOMException('It was ended.', 'AbortError')): void {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(reason);
    this.waiting.clear();
  }

  private take(answer: Answer<Progress, Result>): void {
    const waiting = this.waiting.get(answer.id);
    if (answer.is === 'progress') return waiting?.tell(answer.progress);
    this.waiting.delete(answer.id);
    if (answer.is === 'done') waiting?.resolve(answer.result);
    else waiting?.reject(new Error(answer.message));
  }
}

/** A worker as long as the view is there. */
export function useWorkerRoom<Request, Progress, Result>(url: string): WorkerRoom<Request, Progress, Result> {
  const [room] = useState(() => new WorkerRoom<Request, Progress, Result>(url));
  useEffect(() => {
    room.start();
    return () => room.end();
  }, [room]);
  return room;
}
