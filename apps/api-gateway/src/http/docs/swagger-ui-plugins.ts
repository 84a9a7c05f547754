/**
 * Plugins of Swagger UI. They are sent to the browser as text, so that each must stand on its own.
 * https://github.com/swagger-api/swagger-ui/blob/master/docs/customization/plugin-api.md
 */

/** The parts of Immutable.js that the state of Swagger UI is made of. */
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
 * "Authorize" offers what works: of the flows that an issuer lists, the one that Swagger UI is registered for. It comes before the
 * token that somebody has to paste.
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
 * Opens an operation at once: the resolver of Swagger UI reads the whole document anew for each one that is opened. Ours
 * refers to its own components only, and in no circle.
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

/** The logo brings a style of its own, which the page's policy refuses. */
const hideLogo = (): object => ({ components: { Logo: () => null } });

export const SWAGGER_UI_PLUGINS = [offerOneFlow, resolveLocally, hideLogo];
