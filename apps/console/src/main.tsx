import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { IdentityState, UnauthorizedError } from '@identity-state/client';
import { ConsoleProvider } from './app/context.tsx';
import { router } from './app/router.tsx';
import { Session } from './app/session.ts';
import { readSettings } from './app/settings.ts';
import { TEXT } from './text/app.ts';
import { Problem } from './ui/problem.tsx';

const STALE_MS = 15_000;

const place = document.getElementById('root');
if (place === null) throw new Error('The page has no place for the console.');
const root = createRoot(place);

async function begin(): Promise<void> {
  const session = new Session(await readSettings());
  const address = await session.begin();
  if (session.isCallback && session.getState() !== 'signed_in') {
    root.render(<p>{TEXT.signedInClose}</p>);
    return;
  }
  if (session.isCallback) history.replaceState(null, '', address);
  const client = new IdentityState({ baseUrl: location.origin, token: session.token });
  const expire = (error: Error): void => {
    if (error instanceof UnauthorizedError) session.expire();
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError: expire }),
    mutationCache: new MutationCache({ onError: expire }),
    // The client has tried again already.
    defaultOptions: { queries: { retry: false, staleTime: STALE_MS }, mutations: { retry: false } },
  });
  root.render(
    <StrictMode>
      <ConsoleProvider value={{ client, session }}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ConsoleProvider>
    </StrictMode>,
  );
}

begin().catch((error: unknown) => {
  const failure = error instanceof Error ? error : new Error(String(error));
  root.render(
    <main>
      <h1>{TEXT.signInFailed}</h1>
      <Problem error={failure} retry={() => location.assign('/console')} />
    </main>,
  );
});
