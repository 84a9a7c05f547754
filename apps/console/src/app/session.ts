import type { User, UserManager } from 'oidc-client-ts';
import type { TokenContext } from '@identity-state/client';
import { BASE, CALLBACK, OPEN_VIEWS, type SignInSettings } from './settings.ts';

export type SessionState = 'signed_out' | 'signed_in' | 'expired';

/** Marks, at the end of `state` (RFC 6749, section 4.1.1), a response for the page that opened this window. */
const BESIDE = 'beside';
/** Records in this browser that a user signed in, since the issuer may still have a session. No token is stored. */
const SIGNED_IN = 'identity-state.signed-in';

/**
 * The sign-in of the page. Tokens are kept in memory only. After a reload the page asks the issuer again, which shows nothing
 * if it still has a session (`prompt=none`). When a token expires, the page keeps all typed input, and the user signs in again
 * in a separate window.
 */
export class Session {
  private state: SessionState;
  private user: User | null = null;
  private manager: Promise<UserManager> | null = null;
  private readonly projectId: string;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly settings: SignInSettings) {
    const isOff = settings.auth === 'disabled';
    this.state = isOff ? 'signed_in' : 'signed_out';
    this.projectId = isOff ? '' : settings.project_id;
  }

  /** Loads the client of the issuer when it is first needed; null without a sign-in. */
  private async issuer(): Promise<UserManager | null> {
    const { settings } = this;
    if (settings.auth === 'disabled') return null;
    return (this.manager ??= import('./issuer.ts').then(({ managerOf }) => managerOf(settings)));
  }

  /**
   * Takes the issuer's response before the page shows anything. Returns the address to continue at, or null in a window that
   * only passed its response to the page that opened it.
   */
  async begin(): Promise<string | null> {
    const here = location.pathname + location.search;
    if (location.pathname !== CALLBACK) {
      await this.signInQuietly(here);
      return here;
    }
    const manager = await this.issuer();
    if (manager === null) return here;
    if (new URLSearchParams(location.search).get('state')?.endsWith(`;${BESIDE}`) === true) {
      // The page that opened this window takes the response and closes the window.
      await manager.signinPopupCallback(location.href);
      return null;
    }
    try {
      const user = await manager.signinRedirectCallback(location.href);
      this.become(user);
      return addressOf(user.state);
    } catch (error) {
      const { ErrorResponse } = await import('./issuer.ts');
      if (!(error instanceof ErrorResponse) || localStorage.getItem(SIGNED_IN) === null) throw error;
      // The issuer has no session any more.
      localStorage.removeItem(SIGNED_IN);
      return addressOf(error.state);
    }
  }

  /** Goes to the issuer if a user signed in before. Returns immediately if none did, or if the issuer cannot be reached. */
  private async signInQuietly(address: string): Promise<void> {
    const isOpen = OPEN_VIEWS.some((view) => location.pathname === BASE + view);
    if (isOpen || localStorage.getItem(SIGNED_IN) === null) return;
    await this.issuer()
      .then((manager) => manager?.signinRedirect({ state: address, prompt: 'none' }))
      .catch(() => undefined);
  }

  getState = (): SessionState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The `sub` of the token. */
  get subject(): string {
    return this.user?.profile.sub ?? '';
  }

  /** The caller's principal id; empty without a sign-in. */
  get principalId(): string {
    return this.subject === '' ? '' : `oidc:${this.projectId}#${this.subject}`;
  }

  /** Leaves the page for the issuer, and comes back to `address`. */
  async signIn(address: string): Promise<void> {
    await (await this.issuer())?.signinRedirect({ state: address });
  }

  /** Signs in again in a separate window. @throws Error when the window is closed or blocked */
  async signInAgain(): Promise<void> {
    const user = await (await this.issuer())?.signinPopup({ url_state: BESIDE });
    if (user !== undefined) this.become(user);
  }

  async signOut(): Promise<void> {
    localStorage.removeItem(SIGNED_IN);
    await (await this.issuer())?.removeUser();
    this.user = null;
    this.change('signed_out');
  }

  /** Returns a token to the client. A refused token is renewed if the issuer gave a refresh token. */
  token = async ({ refused }: TokenContext): Promise<string> => {
    const { user } = this;
    const current = user?.access_token ?? '';
    const isStale = user !== null && (user.expired === true || refused === current);
    if (!isStale) return current;
    if (user.refresh_token !== undefined) {
      const renewed = await (await this.issuer())?.signinSilent().catch(() => null);
      if (renewed !== null && renewed !== undefined) {
        this.become(renewed);
        return renewed.access_token;
      }
    }
    this.change('expired');
    return current;
  };

  /** Ends the sign-in after the service refused the token. */
  expire(): void {
    if (this.state === 'signed_in') this.change('expired');
  }

  private become(user: User): void {
    this.user = user;
    localStorage.setItem(SIGNED_IN, 'yes');
    this.change('signed_in');
  }

  private change(state: SessionState): void {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

function addressOf(state: unknown): string {
  return typeof state === 'string' ? state : BASE;
}
