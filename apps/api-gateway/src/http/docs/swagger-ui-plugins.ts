/**
 * Plugins of Swagger UI. They are sent to the browser as text, so each must be self-contained.
 * https://github.com/swagger-api/swagger-ui/blob/master/docs/customization/plugin-api.md
 */

/** The parts of Immutable.js that the state of Swagger UI uses. */
interface ImmutableMap {
  get(key: 'flow'): string | undefined;
  every(is: (value: ImmutableMap) => boolean): boolean;
}
interface ImmutableList {
  filter(is: (value: ImmutableMap) => boolean): ImmutableList;
  sortBy(rank: (value: ImmutableMap) => number): ImmutableList;
}
type Definitions = (...state: unknown[]) => ImmutableList;

/**
 * Lets "Authorize" offer only the one flow for which Swagger UI is registered, although the issuer lists more. The flow
 * comes before the field for a pasted token.
 */
const offerOneFlow = (): object => ({
  statePlugins: {
    auth: {
      wrapSelectors: {
        definitionsToAuthorize:
          (original: Definitions): Definitions =>
          (...state) =>
            original(...state)
              .filter((definition) =>
                definition.every((scheme) => [undefined, 'authorization_code'].includes(scheme.get('flow'))),
              )
              .sortBy((definition) => (definition.every((scheme) => scheme.get('flow') === undefined) ? 1 : 0)),
      },
    },
  },
});

/**
 * Opens an operation immediately. Swagger UI's own resolver reads the whole document again for each opened operation.
 * Our document refers only to its own components, without cycles.
 */
const resolveLocally = (): object => ({
  fn: {
    resolveSubtree: (document: object, path: string[]): Promise<object> => {
      const at = (tokens: string[]): unknown =>
        tokens.reduce<unknown>((value, token) => Reflect.get(Object(value), token), document);
      const resolve = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(resolve);
        if (typeof value !== 'object' || value === null) return value;
        if ('$ref' in value) return resolve(at(String(value.$ref).split('/').slice(1)));
        return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]));
      };
      return Promise.resolve({ spec: resolve(at(path)), errors: [] });
    },
  },
});

/** Hides the logo, because the page's policy refuses its inline style. */
const hideLogo = (): object => ({ components: { Logo: () => null } });

export const SWAGGER_UI_PLUGINS = [offerOneFlow, resolveLocally, hideLogo];
