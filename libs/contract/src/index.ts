export * from './describe/example-ids';
export * from './describe/field';
export * from './describe/fields';
export * from './describe/page-limits';
export * from './describe/shape';
export * from './describe/view';
