import { InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import { CALLBACK, type SignInSettings } from './settings.ts';

export { ErrorResponse } from 'oidc-client-ts';

/** Makes a client of the issuer. Tokens are kept in memory only. */
export function managerOf(settings: Extract<SignInSettings, { auth: 'oidc' }>): UserManager {
  return new UserManager({
    authority: settings.issuer,
    client_id: settings.client_id,
    scope: settings.scope,
    redirect_uri: location.origin + CALLBACK,
    popup_redirect_uri: location.origin + CALLBACK,
    popupWindowFeatures: { width: 520, height: 640 },
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    // Contains the verifier of a sign-in until the issuer responds.
    stateStore: new WebStorageStateStore({ store: sessionStorage }),
    automaticSilentRenew: false,
    monitorSession: false,
  });
}
