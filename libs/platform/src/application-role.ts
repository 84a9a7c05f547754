/** The role of the applications in earlier releases, and of tools. It owns no table of the service. */
export const APPLICATION_ROLE = 'iss_app';

/** The database roles of the applications, each with only the privileges that it needs (`privileges.sql`). */
export const APP_ROLES = { gateway: 'iss_gateway', worker: 'iss_worker' } as const;

/** A database role that a connection can assume. */
export type DatabaseRole = typeof APPLICATION_ROLE | (typeof APP_ROLES)[keyof typeof APP_ROLES];
