import { startTransition, StrictMode } from 'react';
import type { Root } from 'react-dom/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { IdentityState } from '@identity-state/client';
import { hashContent } from './app/content-hash.ts';
import { ConsoleProvider } from './app/context.tsx';
import { queriesOf } from './app/queries.ts';
import { Session } from './app/session.ts';
import { readSettings } from './app/settings.ts';
import { router } from './shell/router.tsx';
import { TEXT } from './shell/words.ts';
import { Problem } from './ui/page.tsx';

/** Shows the console in this place of the page, or why it cannot begin. */
export async function begin(root: Root): Promise<void> {
  try {
    await show(root);
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    root.render(
      <main>
        <h1>{TEXT.signInFailed}</h1>
        <Problem error={failure} retry={() => location.assign('/console')} />
      </main>,
    );
  }
}

async function show(root: Root): Promise<void> {
  // The code of the view loads while the settings do.
  for (const route of router.getMatchedRoutes(router.latestLocation.pathname)[0]) {
    router.loadRouteChunk(route)?.catch(() => undefined);
  }
  const session = new Session(await readSettings());
  const address = await session.begin();
  if (address === null) {
    root.render(<p>{TEXT.signedInClose}</p>);
    return;
  }
  if (address !== location.pathname + location.search) history.replaceState(null, '', address);
  const client = new IdentityState({ baseUrl: location.origin, token: session.token, hash: hashContent });
  const queries = queriesOf(session);
  // A transition renders in short tasks, between which the page reacts.
  startTransition(() =>
    root.render(
      <StrictMode>
        <ConsoleProvider value={{ client, session }}>
          <QueryClientProvider client={queries}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </ConsoleProvider>
      </StrictMode>,
    ),
  );
}
