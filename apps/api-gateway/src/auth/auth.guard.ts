import { ANYONE_ID, DomainError } from '@iss/domain';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { PublicWhen } from '@iss/contract';
import { AUTH_SETTINGS, type AuthSettings } from './auth-settings';
import type { Principal } from './principal';
import { METADATA_PATH, ownOrigin } from './protected-resource';
import { IS_PUBLIC } from './public.decorator';
import { TokenVerifier } from './token-verifier';

const DEVELOPER: Principal = { principalId: 'oidc:local#dev', subject: 'dev', claimedType: 'human' };

/** The principal of a request without a token where global reads are public. It is a member of no tenant. */
export const ANYONE: Principal = { principalId: ANYONE_ID, subject: ANYONE_ID, claimedType: 'human' };

/** The principal of a request without a token on legacy paths. Principals from tokens always begin with `oidc:`. */
export const LEGACY: Principal = { principalId: 'legacy', subject: 'legacy', claimedType: 'service_account' };

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** Guards every route. Only a route marked `@Public()` is open. */
@Injectable()
export class AuthGuard implements CanActivate {
  /** Caches the metadata of each controller method. */
  private readonly known = new Map<Handler, PublicWhen | 'never'>();

  constructor(
    @Inject(AUTH_SETTINGS) private readonly settings: AuthSettings,
    private readonly verifier: TokenVerifier,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const when = this.publicWhen(context.getHandler());
    if (when === 'always') return true;
    const guest = this.guestOf(when, request);
    if (guest === null) return this.authenticate(request, context.switchToHttp().getResponse<Response>());
    request.principal = guest;
    return true;
  }

  private publicWhen(handler: Handler): PublicWhen | 'never' {
    const known = this.known.get(handler);
    if (known !== undefined) return known;
    const when = this.reflector.get<PublicWhen | undefined>(IS_PUBLIC, handler) ?? 'never';
    this.known.set(handler, when);
    return when;
  }

  /** Returns the principal of a request that needs no token here, or null if it needs one. */
  private guestOf(when: Exclude<PublicWhen, 'always'> | 'never', request: Request): Principal | null {
    switch (when) {
      case 'global_reads_are_public':
        return this.settings.globalReadsArePublic ? ANYONE : null;
      case 'legacy_paths_are_public': {
        // If a caller sends a token, the token is checked even here.
        const isGuest = this.settings.mode === 'oidc' && request.headers.authorization === undefined;
        return this.settings.legacyPathsArePublic && isGuest ? LEGACY : null;
      }
      case 'never':
        return null;
    }
  }

  /**
   * Authenticates a request and sets `request.principal`. Call it only for public routes that a setting closes. The
   * guard authenticates the requests to all other routes.
   */
  async authenticate(request: Request, response: Response): Promise<true> {
    try {
      request.principal = await this.identify(request);
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unauthorized') {
        response.setHeader('WWW-Authenticate', challengeFor(request, this.settings));
      }
      throw error;
    }
  }

  /**
   * Returns the principal of a request. Also called during a long response, to check that the token is still valid.
   * Throws `unauthorized`.
   */
  identify(request: Request): Principal | Promise<Principal> {
    switch (this.settings.mode) {
      case 'disabled':
        return DEVELOPER;
      case 'oidc':
        return this.verifier.verify(request);
    }
  }
}

/** Returns the challenge of RFC 6750, section 3.1: no error without credentials. Names the metadata (RFC 9728, section 5.1). */
function challengeFor(request: Request, settings: AuthSettings): string {
  const origin = ownOrigin(request, settings);
  const parameters = [
    ...(request.headers.authorization === undefined ? [] : ['error="invalid_token"']),
    ...(origin === null ? [] : [`resource_metadata="${origin}${METADATA_PATH}"`]),
  ];
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
}
