import { useEffect } from 'react';
import { useWorkerRoom } from '../../../app/worker.ts';
import { keepPatch } from './content.ts';
import { type Draft, drafts } from './draft.ts';
import type { Reading, ReadJob } from './draft.worker.ts';
import workerUrl from './draft.worker.ts?worker&url';

/** The pause in typing after which the text is parsed. */
const REST_MS = 200;

/** Parses a large typed text in a worker, so that the page stays responsive. */
export function useReading({ subject, baseContent, text }: Draft): void {
  const worker = useWorkerRoom<ReadJob, never, Reading>(workerUrl);
  const typed = text?.isPending === true ? text.typed : null;
  useEffect(() => {
    if (typed === null) return;
    let isWanted = true;
    const end = (reading: Reading): void => {
      const draft = drafts.of(subject);
      if (isWanted && draft?.text?.typed === typed) drafts.keep(withReading(draft, reading));
    };
    const timer = setTimeout(() => {
      worker.run({ base: baseContent, typed }).then(end, (error: Error) => end({ is: 'fault', fault: error.message }));
    }, REST_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [worker, subject, baseContent, typed]);
}

function withReading(draft: Draft, reading: Reading): Draft {
  const typed = draft.text?.typed ?? '';
  if (reading.is === 'fault') return { ...draft, text: { typed, fault: reading.fault, isPending: false } };
  const { content, patch } = reading;
  keepPatch(draft.baseContent, content, patch);
  return { ...draft, content, unread: {}, text: { typed, fault: null, isPending: false } };
}
