import { Global, Module } from '@nestjs/common';
import { RateLimiter } from '../http/limits/rate-limiter';
import { Charge } from './charge';
import { Work } from './work';

/** Provides heavy work to all modules. */
@Global()
@Module({
  providers: [Work, { provide: Charge, useExisting: RateLimiter }],
  exports: [Work],
})
export class WorkModule {}
