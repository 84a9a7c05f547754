import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import type { IdentityState } from '@identity-state/client';
import type { Session, SessionState } from './session.ts';

/** The client and the session that every view uses. */
export interface Console {
  readonly client: IdentityState;
  readonly session: Session;
}

const Context = createContext<Console | null>(null);

export function ConsoleProvider({ value, children }: { value: Console; children: ReactNode }) {
  return <Context value={value}>{children}</Context>;
}

function useConsole(): Console {
  const value = useContext(Context);
  if (value === null) throw new Error('Outside of the console');
  return value;
}

/** Returns the client of the service, which acts as the signed-in user and verifies what it reads. */
export function useClient(): IdentityState {
  return useConsole().client;
}

export function useSession(): Session {
  return useConsole().session;
}

export function useSessionState(): SessionState {
  const { session } = useConsole();
  return useSyncExternalStore(session.subscribe, session.getState);
}
