import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { AuthGuard } from '../../auth/auth.guard';
import { Public } from '../../auth/public.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, named, object, type Schema, TIMESTAMP } from '../../http/describe/openapi';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { type Meta, readMeta } from './meta';
import { type GatewayReadiness, ReadinessService } from './readiness.service';

const TEXT: Schema = { type: 'string' };
const CHECK: Schema = named(
  'Check',
  object({ status: { type: 'string', enum: ['ok', 'degraded', 'failed'] }, detail: TEXT }, ['detail']),
);
const READINESS: Schema = named(
  'Readiness',
  object({
    status: { type: 'string', enum: ['ready', 'not_ready'] },
    checks: object({ database: CHECK, migrations: CHECK, queue: CHECK, outbox: CHECK }),
  }),
);
const META: Schema = named(
  'Meta',
  object({ service: TEXT, ts: TIMESTAMP, version: TEXT, node: TEXT, env: TEXT, gitSha: TEXT, builtAt: TIMESTAMP }),
);
const ALL_OK = {
  database: { status: 'ok' },
  migrations: { status: 'ok' },
  queue: { status: 'ok' },
  outbox: { status: 'ok' },
};

/** What probes, operators and integrators ask of the process itself (specification, "Utility"). */
@ApiTags('Utility')
@Controller()
export class SystemController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly guard: AuthGuard,
    private readonly metrics: Registry,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('health')
  @Public()
  @ApiRoute('Liveness: says only that the process lives', 'anyone')
  @ApiAnswer(200, 'Alive.', named('Health', object({ status: { type: 'string', const: 'ok' } })), { status: 'ok' })
  health(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('v1/ops/readiness')
  @Public()
  @ApiRoute('Readiness: each dependency; 503 when requests should go elsewhere', 'anyone')
  @ApiAnswer(200, 'Ready.', READINESS, { status: 'ready', checks: ALL_OK })
  @ApiAnswer(503, 'Not ready.', READINESS, {
    status: 'not_ready',
    checks: { ...ALL_OK, database: { status: 'failed', detail: 'unreachable' } },
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<GatewayReadiness> {
    const readiness = await this.readiness.read();
    response.status(readiness.status === 'ready' ? 200 : 503);
    return readiness;
  }

  @Get('v1/meta')
  @Public()
  @ApiRoute('What runs here', 'anyone', { description: 'Unless `META_REQUIRES_AUTH` is true: then it takes a token.' })
  @ApiAnswer(200, 'Version and environment.', META, {
    service: 'identity-state-service',
    ts: '2026-01-15T09:00:00.000Z',
    version: '1.0.0',
    node: 'v26.10.0',
    env: 'production',
    gitSha: '3f1c2d4',
    builtAt: '2026-01-10T12:00:00.000Z',
  })
  @ApiErrors('unauthorized')
  async meta(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<Meta> {
    if (this.settings.metaRequiresAuth) await this.guard.authenticate(request, response);
    return readMeta(this.settings);
  }

  @Get('metrics')
  @Public()
  @ApiExcludeEndpoint()
  async prometheus(@Res() response: Response): Promise<void> {
    response.setHeader('Content-Type', this.metrics.contentType);
    response.end(await this.metrics.metrics());
  }
}
