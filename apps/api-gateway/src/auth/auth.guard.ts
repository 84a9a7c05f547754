import { DomainError } from '@iss/domain';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AUTH_SETTINGS } from './auth-settings';
import type { AuthSettings } from './auth-settings';
import type { Principal } from './principal';
import { IS_PUBLIC, type PublicWhen } from './public.decorator';
import { TokenVerifier } from './token-verifier';

const DEVELOPER: Principal = { principalId: 'oidc:local#dev', subject: 'dev', claimedType: 'human' };

/** Whoever reads where global reads are public; a member of nothing. */
const ANYONE: Principal = { principalId: 'anyone', subject: 'anyone', claimedType: 'human' };

/** Stands before every route; only a route marked `@Public()` is open. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    @Inject(AUTH_SETTINGS) private readonly settings: AuthSettings,
    private readonly verifier: TokenVerifier,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    switch (this.reflector.get<PublicWhen | undefined>(IS_PUBLIC, context.getHandler())) {
      case 'always':
        return true;
      case 'global_reads_are_public':
        if (!this.settings.globalReadsArePublic) break;
        http.getRequest<Request>().principal = ANYONE;
        return true;
      case undefined:
        break;
    }
    await this.authenticate(http.getRequest<Request>(), http.getResponse<Response>());
    return true;
  }

  /** Sets `request.principal`. For public routes that a setting closes; all others have it done already. */
  async authenticate(request: Request, response: Response): Promise<Principal> {
    try {
      request.principal = await this.identify(request);
      return request.principal;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unauthorized') {
        response.setHeader('WWW-Authenticate', challengeFor(request));
      }
      throw error;
    }
  }

  private async identify(request: Request): Promise<Principal> {
    switch (this.settings.mode) {
      case 'disabled':
        return DEVELOPER;
      case 'oidc':
        return this.verifier.verify(request);
    }
  }
}

/** RFC 6750, section 3.1: without credentials the challenge carries no error. */
function challengeFor(request: Request): string {
  return request.headers.authorization === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
}
