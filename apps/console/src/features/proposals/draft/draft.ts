import { useSyncExternalStore } from 'react';
import type { Snapshot } from '@identity-state/client';
import type { SubjectAddress } from '../../../app/address.ts';
import { contentOf, type JsonObject, type LeftOver, draftPatch } from './content.ts';

/** A proposal that is not sent yet. */
export interface Draft {
  readonly subject: SubjectAddress;
  /** The version that it is based on. */
  readonly base: Snapshot;
  readonly baseContent: JsonObject;
  /** The changed content. */
  readonly content: JsonObject;
  /** Typed texts that are not numbers yet, by pointer. */
  readonly unread: Readonly<Record<string, string>>;
  /** The typed JSON and its fault. While it is pending, `content` is older than the text. */
  readonly text: { readonly typed: string; readonly fault: string | null; readonly isPending: boolean } | null;
  /** The proposal corrects an error; the world did not change. */
  readonly isCorrection: boolean;
  /** The last attempt. Sending the same patch again uses the same request id, so it creates one proposal. */
  readonly sent: { readonly patch: string; readonly requestId: string } | null;
  /** The proposal that it replaces, if it is a rebased one. */
  readonly replaces: string | null;
  readonly left: readonly LeftOver[];
  readonly both: readonly string[];
}

export function draftOn(subject: SubjectAddress, base: Snapshot): Draft {
  const content = contentOf(base.envelope);
  return {
    subject,
    base,
    baseContent: content,
    content,
    unread: {},
    text: null,
    isCorrection: false,
    sent: null,
    replaces: null,
    left: [],
    both: [],
  };
}

export function isChanged({ baseContent, content, unread, text }: Draft): boolean {
  const isUnread = Object.keys(unread).length > 0 || text?.isPending === true || (text?.fault ?? null) !== null;
  return isUnread || draftPatch(baseContent, content).length > 0;
}

/**
 * Drafts exist as long as the page: they survive a change of tabs, failed requests and an expired sign-in. The browser asks
 * before it closes a page with an unsent draft.
 */
class Drafts {
  private all: readonly Draft[] = [];
  private readonly listeners = new Set<() => void>();

  list = (): readonly Draft[] => this.all;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  of(subject: SubjectAddress): Draft | null {
    return this.all.find((draft) => draft.subject.path === subject.path) ?? null;
  }

  keep(draft: Draft): void {
    this.replace([...this.all.filter(({ subject }) => subject.path !== draft.subject.path), draft]);
  }

  drop(subject: SubjectAddress): void {
    this.replace(this.all.filter((draft) => draft.subject.path !== subject.path));
  }

  private replace(all: readonly Draft[]): void {
    this.all = all;
    for (const listener of this.listeners) listener();
  }
}

export const drafts = new Drafts();

addEventListener('beforeunload', (event) => {
  if (drafts.list().some(isChanged)) event.preventDefault();
});

export function useDrafts(): readonly Draft[] {
  return useSyncExternalStore(drafts.subscribe, drafts.list);
}

export function useDraft(subject: SubjectAddress): Draft | null {
  return useDrafts().find((draft) => draft.subject.path === subject.path) ?? null;
}
