/** Returns the issuer's name of a principal: `alice` for `oidc:acme#alice`. Other texts are returned unchanged. */
export function principalName(id: string): string {
  return /^oidc:[^#]+#(.+)$/s.exec(id)?.[1] ?? id;
}
