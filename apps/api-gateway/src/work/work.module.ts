import { Global, Module } from '@nestjs/common';
import { Charge, NO_CHARGE } from './charge';
import { Work } from './work';

/** What every room may give its heavy work to. */
@Global()
@Module({
  providers: [Work, { provide: Charge, useValue: NO_CHARGE }],
  exports: [Work],
})
export class WorkModule {}
