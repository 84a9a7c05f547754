/** Returns the name by which the issuer knows a principal: `alice` of `oidc:acme#alice`. Other texts stay as they are. */
export function principalName(id: string): string {
  return /^oidc:[^#]+#(.+)$/s.exec(id)?.[1] ?? id;
}
