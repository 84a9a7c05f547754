// First: it stops a process whose Node.js could not load the others.
export * from './runtime';
export * from './address';
export * from './application-role';
export * from './boot';
export * from './database-url';
export * from './env';
export * from './failure';
export * from './limits';
export * from './logger';
export * from './metrics';
export * from './metrics-server';
export * from './rarely';
export * from './readiness';
export * from './recent-map';
export * from './secret-box';
export * from './shutdown';
export * from './within';
