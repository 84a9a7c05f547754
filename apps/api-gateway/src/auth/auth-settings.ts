export interface AuthSettings {
  /** `disabled`: every caller is `oidc:local#dev`. The environment allows it in `local` and `development` only. */
  mode: 'oidc' | 'disabled';
  /** `{OIDC_ISSUER}/{OIDC_PROJECT_ID}`, compared with `iss` character by character. */
  issuer: string;
  /** Has no `#`. */
  projectId: string;
  audience: string;
  /** Where the keys are; undefined: where the issuer's discovery document says. */
  jwksUri: string | undefined;
  /** The claim that says `human`, `service_account` or `ai_agent`. */
  principalTypeClaim: string;
  /** The environment allows it in `local` and `development` only. */
  globalReadsArePublic: boolean;
  /** 0–60. */
  clockSkewSeconds: number;
  /** Contract, "Numbers": 8 KiB. */
  maxTokenBytes: number;
}

export const AUTH_SETTINGS = Symbol('AUTH_SETTINGS');
