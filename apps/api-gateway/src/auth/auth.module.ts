import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthGuard } from './auth.guard';
import { AUTH_SETTINGS, type AuthSettings } from './auth-settings';
import { KeySet } from './key-set';
import { TokenVerifier } from './token-verifier';

@Module({})
export class AuthModule {
  /** Closes every route of the application that is not marked `@Public()`. */
  static forRoot(settings: AuthSettings): DynamicModule {
    return {
      module: AuthModule,
      global: true,
      providers: [
        { provide: AUTH_SETTINGS, useValue: settings },
        KeySet,
        TokenVerifier,
        AuthGuard,
        { provide: APP_GUARD, useExisting: AuthGuard },
      ],
      exports: [AuthGuard],
    };
  }
}
