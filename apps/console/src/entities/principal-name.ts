const PRINCIPAL = /^oidc:[^#]{1,255}#.{1,255}$/;

/** Returns whether a text is a whole principal id. */
export function isPrincipal(text: string): boolean {
  return PRINCIPAL.test(text);
}

/** Returns the issuer's name of a principal: `alice` for `oidc:acme#alice`. Other texts are returned unchanged. */
export function principalName(id: string): string {
  return /^oidc:[^#]+#(.+)$/s.exec(id)?.[1] ?? id;
}
