import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Liveness } from './liveness';
import { WorkerReadinessService, type WorkerReadiness } from './readiness.service';

/** Serves liveness and readiness of the worker. */
@Controller()
export class HealthController {
  constructor(
    private readonly liveness: Liveness,
    private readonly readiness: WorkerReadinessService,
  ) {}

  /** Liveness: 503 if only a restart can help. */
  @Get('health')
  async health(@Res({ passthrough: true }) response: Response): Promise<{ status: 'ok' | 'stuck' }> {
    const isAlive = await this.liveness.isAlive();
    response.status(isAlive ? 200 : 503);
    return { status: isAlive ? 'ok' : 'stuck' };
  }

  @Get('v1/ops/readiness')
  async ready(@Res({ passthrough: true }) response: Response): Promise<WorkerReadiness> {
    const readiness = await this.readiness.read();
    response.status(readiness.status === 'ready' ? 200 : 503);
    return readiness;
  }
}
