export * from './pack';
export * from './store/object-store';
export * from './store/open-store';
export * from './text-archive';
