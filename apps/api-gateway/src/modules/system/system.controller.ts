import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Health, Meta, ProtectedResource, SYSTEM } from '@iss/contract';
import { AuthGuard } from '../../auth/auth.guard';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { readMeta } from './meta';
import { readProtectedResource } from './protected-resource';
import { type GatewayReadiness, ReadinessService } from './readiness.service';
import { Operation } from '../../http/describe/operation.decorator';

/** Serves liveness, readiness, version and metadata of the process (specification, "Utility"). */
@Controller()
export class SystemController {
  constructor(
    private readonly readiness: ReadinessService,
    private readonly guard: AuthGuard,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  @Operation(SYSTEM.getHealth)
  getHealth(): Health {
    return { status: 'ok' };
  }

  @Operation(SYSTEM.getReadiness)
  async getReadiness(@Res({ passthrough: true }) response: Response): Promise<GatewayReadiness> {
    const readiness = await this.readiness.read();
    response.status(readiness.status === 'ready' ? 200 : 503);
    return readiness;
  }

  @Operation(SYSTEM.getMeta)
  async getMeta(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<Meta> {
    if (this.settings.metaRequiresAuth) await this.guard.authenticate(request, response);
    return readMeta(this.settings);
  }

  @Operation(SYSTEM.getProtectedResource)
  getProtectedResource(@Req() request: Request): ProtectedResource {
    return readProtectedResource(request, this.settings);
  }
}
