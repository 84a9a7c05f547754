// The directions of the house (docs/architecture.md), as `npm run lint` checks them. Nx tags alone are no gate:
// without a cached project graph its lint rule warns and exits 0.
const feature = '^apps/api-gateway/src/modules/([^/]+)/';
const lib = (name) => [`^libs/${name}/`, `^@iss/${name}`];

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^libs/domain/src' },
      to: { pathNot: ['^libs/domain/src', '^(node:)?crypto$', '^node_modules/uuid/'] },
    },
    {
      name: 'the-contract-stands-on-domain',
      severity: 'error',
      from: { path: '^libs/contract/src', pathNot: 'spec\\.ts$' },
      to: { pathNot: ['^libs/contract/src', ...lib('domain')] },
    },
    {
      // Not even Node's own modules: browsers run it.
      name: 'tlog-is-pure',
      severity: 'error',
      from: { path: '^libs/tlog/src' },
      to: { pathNot: ['^libs/tlog/src'] },
    },
    {
      // Browsers run it, except libsodium.
      name: 'map-stands-on-tlog',
      severity: 'error',
      from: { path: '^libs/map/src' },
      to: { pathNot: ['^libs/map/src', ...lib('tlog'), '^node_modules/(@noble|libsodium-wrappers-sumo)/'] },
    },
    {
      // Browsers and strangers verify with it.
      name: 'proof-stands-on-domain-map-and-tlog',
      severity: 'error',
      from: { path: '^libs/proof/src' },
      to: { pathNot: ['^libs/proof/src', ...['domain', 'map', 'tlog'].flatMap(lib)] },
    },
    {
      // Browsers run it; what it is made of they run too.
      name: 'the-client-stands-on-domain-tlog-and-proof',
      severity: 'error',
      from: { path: '^libs/client/src', pathNot: '^libs/client/src/node\\.ts$' },
      to: { pathNot: ['^libs/client/src', ...['domain', 'map', 'proof', 'tlog'].flatMap(lib)] },
    },
    {
      name: 'what-browsers-run-knows-no-node',
      severity: 'error',
      from: { path: '^libs/(domain/src/pure|(client|proof)/src/index)\\.ts$' },
      to: { path: '^(node:)?crypto$', reachable: true },
    },
    {
      // A client like any other: nothing but what the API answers.
      name: 'the-console-stands-on-the-client',
      severity: 'error',
      from: { path: '^apps/console/src' },
      to: { path: ['persistence', 'queue', 'platform'].flatMap(lib) },
    },
    {
      name: 'the-console-ui-knows-no-api',
      severity: 'error',
      from: { path: '^apps/console/src/ui/' },
      to: { path: '^apps/console/src/(app|entities|features|forms|shell)/' },
    },
    {
      name: 'the-console-features-stand-on-its-entities-and-forms',
      severity: 'error',
      from: { path: '^apps/console/src/(app|entities|forms)/' },
      to: { path: '^apps/console/src/(features|shell)/' },
    },
    {
      name: 'pg-only-in-persistence',
      severity: 'error',
      // The auditor reads with statements of its own.
      from: { path: '^(apps|libs)/', pathNot: ['^libs/persistence/', '^apps/cli/src/audit/database\\.ts$'] },
      to: { path: '^node_modules/(pg|@types/pg)/' },
    },
    {
      name: 'typeorm-only-for-migrations',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/persistence/src/migrate\\.ts$' },
      to: { path: '^node_modules/(typeorm|@nestjs/typeorm)/' },
    },
    {
      name: 'stores-know-no-framework',
      severity: 'error',
      from: { path: '^libs/persistence/', pathNot: '^libs/persistence/src/persistence\\.module\\.ts$' },
      to: { path: '^node_modules/@nestjs/' },
    },
    {
      name: 'bullmq-only-in-queue',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/queue/' },
      to: { path: '^node_modules/(bullmq|ioredis|@nestjs/bullmq)/' },
    },
    {
      name: 'persistence-and-queue-do-not-know-one-another',
      severity: 'error',
      from: { path: '^libs/(persistence|queue)/' },
      to: { path: ['persistence', 'queue'].flatMap(lib), pathNot: '^libs/$1/' },
    },
    {
      name: 'attestation-makes-no-requests',
      severity: 'error',
      from: { path: '^libs/attestation/src', pathNot: 'spec\\.ts$' },
      to: { pathNot: ['^libs/attestation/src', ...lib('domain'), '^(node:)?(crypto|zlib)$', '^node_modules/jose/'] },
    },
    {
      name: 'platform-knows-neither-persistence-nor-queue',
      severity: 'error',
      from: { path: '^libs/platform/' },
      to: { path: ['persistence', 'queue'].flatMap(lib) },
    },
    {
      name: 'opentelemetry-only-in-otlp',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/platform/src/otlp/' },
      to: { path: '^node_modules/@opentelemetry/' },
    },
    {
      // While telemetry is off, nothing of it is loaded.
      name: 'otlp-is-loaded-when-it-is-on',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/platform/src/otlp/' },
      to: { path: '^libs/platform/src/otlp/', dynamic: false },
    },
    {
      // What wrote it cannot vouch for itself: nothing is common to them but the hashes of the tree.
      name: 'the-auditor-shares-nothing-with-the-writer',
      severity: 'error',
      from: { path: '^apps/cli/src/audit/' },
      to: { path: ['domain', 'persistence', 'platform', 'proof', 'queue'].flatMap(lib) },
    },
    { name: 'libs-do-not-know-apps', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'apps-do-not-know-one-another',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'features-do-not-import-features',
      severity: 'error',
      from: { path: feature },
      to: { path: '^apps/api-gateway/src/modules/', pathNot: '^apps/api-gateway/src/modules/$1/' },
    },
    // The layers of the gateway: features stand on http, http on what serves it, and all of them on the runtime.
    {
      name: 'the-runtime-knows-no-layer',
      severity: 'error',
      from: { path: '^apps/api-gateway/src/runtime/' },
      to: { path: '^apps/api-gateway/src/(access|auth|events|http|log|modules)/' },
    },
    {
      name: 'what-serves-http-does-not-know-it',
      severity: 'error',
      from: { path: '^apps/api-gateway/src/(access|auth|events|log)/' },
      to: { path: '^apps/api-gateway/src/http/' },
    },
    {
      name: 'the-edge-knows-no-features',
      severity: 'error',
      from: { path: '^apps/api-gateway/src/(access|auth|events|http|log)/' },
      to: { path: '^apps/api-gateway/src/modules/' },
    },
    {
      // Each thread loads what it runs: the framework would take many times as long, and as much memory.
      name: 'threads-load-no-framework',
      severity: 'error',
      from: { path: '^apps/api-gateway/src/runtime/thread\\.ts$' },
      to: { path: '^node_modules/@nestjs/', reachable: true },
    },
    {
      name: 'services-know-no-http',
      severity: 'error',
      from: { path: '\\.service\\.ts$' },
      to: { path: ['\\.(controller|query|views|openapi)\\.ts$', '^apps/api-gateway/src/http/'] },
    },
    {
      name: 'controllers-know-no-tables',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: lib('persistence') },
    },
    {
      name: 'nothing-is-unresolvable',
      severity: 'error',
      from: { path: '^(apps|libs)/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.base.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['iss-source', 'types', 'node', 'require', 'default'],
      exportsFields: ['exports'],
    },
    doNotFollow: { path: 'node_modules' },
    // Ours only: packages have folders of these names too, and what is excluded breaks no rule.
    exclude: {
      path: [
        '^(apps|libs)/.*\\.(spec|int-spec|e2e-spec)\\.ts$',
        '^(apps|libs)/[^/]+/dist/',
        '^(apps|libs)/[^/]+/src/testing/',
        '^apps/[^/]+/test/',
      ],
    },
  },
};
