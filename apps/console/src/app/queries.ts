import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, ConnectionError, UnauthorizedError } from '@identity-state/client';
import type { Session } from './session.ts';

const STALE_MS = 15_000;
/** Retries temporary failures, so that an error disappears with its cause. */
const FAILED_AGAIN_MS = 5_000;

/** Makes the query cache of a page. A response that refuses the token ends the sign-in. */
export function queriesOf(session: Session): QueryClient {
  const expire = (error: Error): void => {
    if (error instanceof UnauthorizedError) session.expire();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError: expire }),
    mutationCache: new MutationCache({ onError: expire }),
    // The client retries by itself.
    defaultOptions: {
      queries: {
        retry: false,
        staleTime: STALE_MS,
        refetchInterval: ({ state }) => (isPassing(state.error) ? FAILED_AGAIN_MS : false),
      },
      mutations: { retry: false },
    },
  });
}

function isPassing(error: Error | null): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ApiError && (error.status === 429 || error.status >= 500))
  );
}
