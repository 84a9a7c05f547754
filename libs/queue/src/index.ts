export * from './jobs';
export * from './event-queue';
export * from './migrate-queue';
export * from './queue.module';
