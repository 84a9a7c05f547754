import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthGuard } from '../../auth/auth.guard';
import { METADATA_PATH } from '../../auth/protected-resource';
import { Public } from '../../auth/public.decorator';
import { answer, ApiRoute } from '../../http/describe/openapi';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { readMeta } from './meta';
import { readProtectedResource } from './protected-resource';
import { type GatewayReadiness, ReadinessService } from './readiness.service';
import {
  ALL_OK,
  Health,
  Meta,
  META_EXAMPLE,
  ProtectedResource,
  PROTECTED_RESOURCE_EXAMPLE,
  Readiness,
} from './system.views';

/** Serves liveness, readiness, version and metadata of the process (specification, "Utility"). */
@ApiTags('Utility')
@Controller()
export class SystemController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly guard: AuthGuard,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Get('health')
  @Public()
  @ApiRoute('Liveness: 200 while the process runs', 'anyone', {
    answers: { 200: answer('Alive.', Health, { status: 'ok' }) },
  })
  getHealth(): Health {
    return { status: 'ok' };
  }

  @Get('v1/ops/readiness')
  @Public()
  @ApiRoute('Readiness: the state of each dependency; 503 when requests should go elsewhere', 'anyone', {
    answers: {
      200: answer('Ready.', Readiness, { status: 'ready', checks: ALL_OK }),
      503: answer('Not ready.', Readiness, {
        status: 'not_ready',
        checks: { ...ALL_OK, database: { status: 'failed', detail: 'unreachable' } },
      }),
    },
  })
  async getReadiness(@Res({ passthrough: true }) response: Response): Promise<GatewayReadiness> {
    const readiness = await this.readiness.read();
    response.status(readiness.status === 'ready' ? 200 : 503);
    return readiness;
  }

  @Get('v1/meta')
  @Public()
  @ApiRoute('Read the version and environment of the service', 'anyone', {
    description: 'Needs a token only if `META_REQUIRES_AUTH` is true.',
    answers: { 200: answer('Version and environment.', Meta, META_EXAMPLE) },
    errors: ['unauthorized'],
  })
  async getMeta(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<Meta> {
    if (this.settings.metaRequiresAuth) await this.guard.authenticate(request, response);
    return readMeta(this.settings);
  }

  @Get(METADATA_PATH)
  @Public()
  @ApiRoute('Read the metadata of the service as a protected resource (RFC 9728)', 'anyone', {
    description:
      'Names the issuer whose tokens the service accepts, and the origin for which a token must be issued. A ' +
      'client uses the metadata only if `resource` equals the origin of its request. It sends that origin to ' +
      'the issuer as `resource` (RFC 8707).',
    answers: { 200: answer('The metadata.', ProtectedResource, PROTECTED_RESOURCE_EXAMPLE) },
  })
  getProtectedResource(@Req() request: Request): ProtectedResource {
    return readProtectedResource(request, this.settings);
  }
}
