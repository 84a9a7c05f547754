import { ErrorResponse, InMemoryWebStorage, type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { TokenContext } from '@identity-state/client';
import { BASE, OPEN_VIEWS, type Settings } from './settings.ts';

export type SessionState = 'signed_out' | 'signed_in' | 'expired';

const CALLBACK = `${BASE}/signed-in`;
/** Ends `state` (RFC 6749, section 4.1.1) where the answer belongs to the page beside this window. */
const BESIDE = 'beside';
/** Says in this browser that somebody signed in: the issuer may still know them. No token is kept. */
const SIGNED_IN = 'identity-state.signed-in';

/**
 * The sign-in of the page. Tokens are kept in memory only. A page that is loaded again asks the issuer again, which shows nothing to
 * somebody whom it still knows (`prompt=none`). A token that expires
 * leaves the page as it is, with all that was typed; signing in again happens in a window beside it.
 */
export class Session {
  private state: SessionState;
  private user: User | null = null;
  private readonly manager: UserManager | null;
  private readonly projectId: string;
  private readonly listeners = new Set<() => void>();

  constructor(settings: Settings) {
    this.state = settings.auth === 'disabled' ? 'signed_in' : 'signed_out';
    this.projectId = settings.auth === 'disabled' ? '' : settings.project_id;
    this.manager =
      settings.auth === 'disabled'
        ? null
        : new UserManager({
            authority: settings.issuer,
            client_id: settings.client_id,
            scope: settings.scope,
            redirect_uri: location.origin + CALLBACK,
            popup_redirect_uri: location.origin + CALLBACK,
            popupWindowFeatures: { width: 520, height: 640 },
            userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
            // The verifier of a sign-in under way, until it comes back.
            stateStore: new WebStorageStateStore({ store: sessionStorage }),
            automaticSilentRenew: false,
            monitorSession: false,
          });
  }

  /**
   * Takes the issuer's answer, before anything is shown. Returns the address to continue at; null in a window that only handed its
   * answer to the page that opened it.
   */
  async begin(): Promise<string | null> {
    const here = location.pathname + location.search;
    if (this.manager === null) return here;
    if (location.pathname !== CALLBACK) {
      await this.signInQuietly(here);
      return here;
    }
    if (new URLSearchParams(location.search).get('state')?.endsWith(`;${BESIDE}`) === true) {
      // The page that opened this window is handed the answer, and closes it.
      await this.manager.signinPopupCallback(location.href);
      return null;
    }
    try {
      const user = await this.manager.signinRedirectCallback(location.href);
      this.become(user);
      return addressOf(user.state);
    } catch (error) {
      if (!(error instanceof ErrorResponse) || localStorage.getItem(SIGNED_IN) === null) throw error;
      // The issuer does not know them any more: they sign in as at first.
      localStorage.removeItem(SIGNED_IN);
      return addressOf(error.state);
    }
  }

  /** Leaves for the issuer where somebody signed in before. Returns at once where nobody did, and where it cannot be reached. */
  private async signInQuietly(address: string): Promise<void> {
    const isOpen = OPEN_VIEWS.some((view) => location.pathname === BASE + view);
    if (isOpen || localStorage.getItem(SIGNED_IN) === null) return;
    await this.manager?.signinRedirect({ state: address, prompt: 'none' }).catch(() => undefined);
  }

  getState = (): SessionState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** `sub` of the token: who is signed in, as the issuer calls them. */
  get subject(): string {
    return this.user?.profile.sub ?? '';
  }

  /** As members lists name the caller; empty where nobody signs in. */
  get principalId(): string {
    return this.subject === '' ? '' : `oidc:${this.projectId}#${this.subject}`;
  }

  /** Leaves the page for the issuer, and comes back to `address`. */
  async signIn(address: string): Promise<void> {
    await this.manager?.signinRedirect({ state: address });
  }

  /** In a window beside the page. @throws Error when that is closed or refused */
  async signInAgain(): Promise<void> {
    if (this.manager === null) return;
    this.become(await this.manager.signinPopup({ url_state: BESIDE }));
  }

  async signOut(): Promise<void> {
    localStorage.removeItem(SIGNED_IN);
    await this.manager?.removeUser();
    this.user = null;
    this.change('signed_out');
  }

  /** The client's source of tokens. One that was refused is renewed where the issuer gave a refresh token. */
  token = async ({ refused }: TokenContext): Promise<string> => {
    const { user, manager } = this;
    const current = user?.access_token ?? '';
    const isStale = user !== null && (user.expired === true || refused === current);
    if (!isStale || manager === null) return current;
    if (user.refresh_token !== undefined) {
      const renewed = await manager.signinSilent().catch(() => null);
      if (renewed !== null) {
        this.become(renewed);
        return renewed.access_token;
      }
    }
    this.change('expired');
    return current;
  };

  /** The service refuses the token, whatever its lifetime says. */
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
