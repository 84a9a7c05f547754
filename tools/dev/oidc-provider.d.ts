/** The part of oidc-provider that the development identity provider uses; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Context {
    oidc: {
      client: { clientId: string };
      session: { accountId: string };
      result?: { login?: { accountId: string } };
      prompts: ReadonlySet<string>;
    };
  }

  export interface InteractionDetails {
    uid: string;
    params: Record<string, unknown>;
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: new (fields: { clientId: string; accountId: string }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<InteractionDetails>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<void>;
    on(event: string, listener: (context: unknown, error: Error) => void): void;
  }

  export namespace errors {
    class InvalidTarget extends Error {}
  }

  export namespace interactionPolicy {
    class Check {
      constructor(reason: string, description: string, check: (context: Context) => boolean);
    }
    class Prompt {
      constructor(info: { name: string; requestable: boolean }, ...checks: Check[]);
    }
  }
}
