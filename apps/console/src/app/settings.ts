/** The sign-in settings that the gateway serves at `/console/settings.json`. */
export type SignInSettings =
  | { readonly auth: 'disabled' }
  | {
      readonly auth: 'oidc';
      readonly issuer: string;
      /** Principals are `oidc:{project_id}#{sub}`. */
      readonly project_id: string;
      readonly client_id: string;
      readonly scope: string;
    };

/** The path of the console. */
export const BASE = '/console';
/** The path that the issuer answers to. */
export const CALLBACK = `${BASE}/signed-in`;

/** Views that need no sign-in. */
export const OPEN_VIEWS: readonly string[] = ['/verify', '/log'];

/** @throws Error when the gateway does not answer */
export async function readSettings(): Promise<SignInSettings> {
  const response = await fetch(`${BASE}/settings.json`);
  if (!response.ok) throw new Error(`${BASE}/settings.json: ${response.status}`);
  const settings: SignInSettings = await response.json();
  return settings;
}
