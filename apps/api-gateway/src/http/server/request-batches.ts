import type { Request, Response } from 'express';

type Listener = (request: Request, response: Response) => void;

/**
 * Passes on together the requests that were read in one turn of the event loop. They go through each stage one after
 * another, so its code and data are still in the processor's caches (docs/decisions/0012-requests-in-batches.md). This
 * adds no delay: a turn ends when there is nothing left to read.
 */
export function inBatches(listener: Listener): Listener {
  let batch: Parameters<Listener>[] = [];
  const handOn = (): void => {
    const requests = batch;
    batch = [];
    for (const [request, response] of requests) {
      // Later in this turn its body may have turned out to be malformed, and been answered.
      if (!response.writableEnded) listener(request, response);
    }
  };
  return (request, response) => {
    batch.push([request, response]);
    if (batch.length === 1) setImmediate(handOn);
  };
}
