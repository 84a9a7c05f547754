import { Module, type DynamicModule } from '@nestjs/common';
import { AuthGuard } from './auth.guard';
import { AUTH_SETTINGS, type AuthSettings } from './auth-settings';
import { ClaimedTypes } from './claimed-types';
import { KeySet } from './key-set';
import { TokenVerifier } from './token-verifier';

/** Authenticates callers. The application applies the guard to every route. */
@Module({})
export class AuthModule {
  static forRoot(settings: AuthSettings): DynamicModule {
    return {
      module: AuthModule,
      global: true,
      providers: [{ provide: AUTH_SETTINGS, useValue: settings }, KeySet, ClaimedTypes, TokenVerifier, AuthGuard],
      exports: [AuthGuard, KeySet],
    };
  }
}
