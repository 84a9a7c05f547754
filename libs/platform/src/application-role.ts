/** The database role that the applications act as, which owns no table of the service. */
export const APPLICATION_ROLE = 'iss_app';
