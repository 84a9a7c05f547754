import type { IdentityState } from '@identity-state/client';

/** The items of a list that the client has no method for, page after page as they are taken. `T` is the caller's word. */
export async function* listOf<T>(
  iss: IdentityState,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): AsyncGenerator<T, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: { items: T[]; next_cursor: string | null } = await iss.request('GET', path, {
      query: { ...query, cursor },
    });
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
