export * from './pack';
export * from './packed-text';
export * from './store/object-store';
export * from './store/open-store';
export * from './text-archive';
