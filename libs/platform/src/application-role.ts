/** The role that the applications of earlier releases acted as, and that tools act as. It owns no table of the service. */
export const APPLICATION_ROLE = 'iss_app';

/** The database roles that the applications act as, each with the rights that it needs (`privileges.sql`). */
export const APP_ROLES = { gateway: 'iss_gateway', worker: 'iss_worker' } as const;

/** A database role that somebody may act as. */
export type DatabaseRole = typeof APPLICATION_ROLE | (typeof APP_ROLES)[keyof typeof APP_ROLES];
