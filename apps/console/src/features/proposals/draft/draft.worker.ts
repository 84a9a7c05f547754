import { serve } from '../../../app/worker-side.ts';
import { contentFrom, moveAttribution, type JsonObject, draftPatch } from './content.ts';

/** A typed text, and the content that it changes. */
export interface ReadJob {
  readonly base: JsonObject;
  readonly typed: string;
}

/** The content of a text and its changes, or the fault of the text. */
export type Reading =
  | { readonly is: 'read'; readonly content: JsonObject; readonly patch: ReturnType<typeof draftPatch> }
  | { readonly is: 'fault'; readonly fault: string };

serve<ReadJob, never, Reading>(async ({ base, typed }) => {
  try {
    const content = moveAttribution(base, contentFrom(typed));
    return { is: 'read', content, patch: draftPatch(base, content) };
  } catch (error) {
    return { is: 'fault', fault: error instanceof Error ? error.message : String(error) };
  }
});
