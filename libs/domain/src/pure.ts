// Exports that also run in browsers. Neither they nor their imports may use Node (dependency-cruiser.cjs).
export * from './errors';
export * from './json/value';
export * from './json/parse';
export * from './json/canonicalize';
export * from './json/pointer';
export * from './json/equals';
export * from './json/diff';
export { Classes, TextClasses } from './json/classes';
export { applyPatch, parsePatch, type PatchOperation } from './json/patch';
export { followAttribution } from './provenance/follow';
export { isAtLeast, type Role, ROLES } from './access/roles';
export { type Scope, SCOPES } from './access/scopes';
export { PROTECTED_ROOTS } from './envelope/protected-roots';
export { LOG_ENTRY_VERSION } from './log/entry';
