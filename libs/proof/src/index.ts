export * from './bundle';
export * from './consistency';
export * from './content';
export * from './entry-proof';
export * from './errors';
export * from './file';
export * from './inclusion';
export * from './leaf';
export * from './limits';
export * from './members';
export * from './report';
export {
  type Answer,
  type ContentEvidence,
  type InputName,
  noteOf,
  prove,
  proveContent,
  type Step,
  type StepName,
  type StepState,
  type VersionEvidence,
} from './steps';
export * from './trust';
