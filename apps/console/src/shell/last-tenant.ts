const KEY = 'iss.tenant';

/** Returns the tenant that this browser worked in last, or null. */
export function lastTenant(): string | null {
  return localStorage.getItem(KEY);
}

/** Stores the tenant that the start page opens next time. */
export function rememberTenant(tenantId: string): void {
  localStorage.setItem(KEY, tenantId);
}
