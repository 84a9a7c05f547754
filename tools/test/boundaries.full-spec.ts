import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const binary = join(root, 'node_modules/.bin/depcruise');
const LIBS = [
  'attestation',
  'client',
  'contract',
  'domain',
  'map',
  'persistence',
  'platform',
  'proof',
  'queue',
  'tlog',
];

/** Checks a tree of these files against the dependency rules. Returns the exit status and output of dependency-cruiser. */
function cruise(files: Record<string, string>): { status: number | null; output: string } {
  const tree = mkdtempSync(join(tmpdir(), 'iss-boundaries-'));
  try {
    for (const [path, text] of Object.entries({ 'apps/none.ts': '', 'libs/none.ts': '', ...files })) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), text);
    }
    const manifests = LIBS.map((lib) => `libs/${lib}/package.json`);
    for (const name of ['dependency-cruiser.cjs', 'tsconfig.base.json', ...manifests]) {
      cpSync(join(root, name), join(tree, name));
    }
    mkdirSync(join(tree, 'node_modules/@iss'), { recursive: true });
    symlinkSync(join(root, 'node_modules/typescript'), join(tree, 'node_modules/typescript'));
    for (const lib of LIBS.filter((one) => one !== 'client')) {
      symlinkSync(join(tree, 'libs', lib), join(tree, 'node_modules/@iss', lib));
    }
    const { status, stdout, stderr } = spawnSync(binary, ['apps', 'libs', '--config', 'dependency-cruiser.cjs'], {
      cwd: tree,
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const importOf = (path: string): string => `import * as other from '${path}';\nexport const used = other;\n`;
const feature = 'apps/api-gateway/src/modules';
/** Returns the files of a package with its code in `dist/`, like BullMQ. */
const packageOf = (name: string): Record<string, string> => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, main: 'dist/index.js', types: 'dist/index.d.ts' }),
  [`node_modules/${name}/dist/index.js`]: 'module.exports = {};',
  [`node_modules/${name}/dist/index.d.ts`]: 'export {};',
});

/** For each rule, a file that breaks it and the files that it needs. */
const VIOLATIONS: Record<string, Record<string, string>> = {
  'domain-is-pure': { 'libs/domain/src/impure.ts': importOf('node:fs') },
  'the-contract-stands-on-domain': { 'libs/contract/src/impure.ts': importOf('@iss/platform') },
  'tlog-is-pure': { 'libs/tlog/src/impure.ts': importOf('node:crypto') },
  'map-stands-on-tlog': { 'libs/map/src/impure.ts': importOf('node:crypto') },
  'proof-stands-on-domain-map-and-tlog': { 'libs/proof/src/impure.ts': importOf('node:crypto') },
  'the-client-stands-on-domain-tlog-and-proof': { 'libs/client/src/impure.ts': importOf('node:fs') },
  'what-browsers-run-knows-no-node': {
    'libs/client/src/index.ts': importOf('./hash'),
    'libs/client/src/hash.ts': importOf('@iss/domain/pure'),
    'libs/domain/src/pure.ts': importOf('./seal'),
    'libs/domain/src/seal.ts': importOf('node:crypto'),
  },
  'the-console-stands-on-the-client': { 'apps/console/src/shortcut.ts': importOf('@iss/platform') },
  'the-console-ui-knows-no-api': {
    'apps/console/src/ui/list.ts': importOf('../app/api'),
    'apps/console/src/app/api.ts': '',
  },
  'the-console-features-stand-on-its-entities-and-forms': {
    'apps/console/src/entities/grant.ts': importOf('../features/sharing'),
    'apps/console/src/features/sharing.ts': '',
  },
  'attestation-makes-no-requests': { 'libs/attestation/src/impure.ts': importOf('node:https') },
  'no-circular': { 'libs/domain/src/a.ts': importOf('./b'), 'libs/domain/src/b.ts': importOf('./a') },
  'pg-only-in-persistence': { ...packageOf('pg'), 'apps/api-gateway/src/sql.ts': importOf('pg') },
  'typeorm-only-for-migrations': {
    ...packageOf('typeorm'),
    'libs/persistence/src/entity.ts': importOf('typeorm'),
  },
  'stores-know-no-framework': {
    ...packageOf('@nestjs/common'),
    'libs/persistence/src/stores/grant.store.ts': importOf('@nestjs/common'),
  },
  'bullmq-only-in-queue': { ...packageOf('bullmq'), 'apps/webhook-worker/src/jobs.ts': importOf('bullmq') },
  'opentelemetry-only-in-otlp': {
    ...packageOf('@opentelemetry/api'),
    'apps/api-gateway/src/spans.ts': importOf('@opentelemetry/api'),
  },
  'otlp-is-loaded-when-it-is-on': {
    'libs/platform/src/spans.ts': importOf('./otlp/open'),
    'libs/platform/src/otlp/open.ts': '',
  },
  'persistence-and-queue-do-not-know-one-another': {
    'libs/persistence/src/jobs.ts': importOf('@iss/queue'),
    'libs/queue/src/index.ts': '',
  },
  'platform-knows-neither-persistence-nor-queue': {
    'libs/platform/src/jobs.ts': importOf('@iss/queue'),
    'libs/queue/src/index.ts': '',
  },
  'the-auditor-shares-nothing-with-the-writer': {
    'apps/cli/src/audit/text.ts': importOf('@iss/domain'),
    'libs/domain/src/index.ts': '',
  },
  'libs-do-not-know-apps': { 'libs/queue/src/app.ts': importOf('../../../apps/x/src/x'), 'apps/x/src/x.ts': '' },
  'apps-do-not-know-one-another': { 'apps/x/src/other.ts': importOf('../../y/src/y'), 'apps/y/src/y.ts': '' },
  'features-do-not-import-features': {
    [`${feature}/grants/tenancy.ts`]: importOf('../tenancy/tenancy'),
    [`${feature}/tenancy/tenancy.ts`]: '',
  },
  'the-runtime-knows-no-layer': {
    'apps/api-gateway/src/runtime/queue.ts': importOf('../http/limit'),
    'apps/api-gateway/src/http/limit.ts': '',
  },
  'what-serves-http-does-not-know-it': {
    'apps/api-gateway/src/access/reader.ts': importOf('../http/limit'),
    'apps/api-gateway/src/http/limit.ts': '',
  },
  'the-edge-knows-no-features': {
    'apps/api-gateway/src/http/lane.ts': importOf('../modules/grants/hot'),
    [`${feature}/grants/hot.ts`]: '',
  },
  'threads-load-no-framework': {
    ...packageOf('@nestjs/common'),
    'apps/api-gateway/src/runtime/thread.ts': importOf('./framework'),
    'apps/api-gateway/src/runtime/framework.ts': importOf('@nestjs/common'),
  },
  'services-know-no-http': {
    [`${feature}/grants/grant.service.ts`]: importOf('../../http/edge'),
    'apps/api-gateway/src/http/edge.ts': '',
  },
  'controllers-know-no-tables': {
    [`${feature}/grants/grants.controller.ts`]: importOf('@iss/persistence'),
    'libs/persistence/src/index.ts': '',
  },
  'nothing-is-unresolvable': { 'libs/domain/src/gone.ts': importOf('./is-gone') },
};

describe('the dependency rules', () => {
  const { status, output } = cruise(Object.assign({}, ...Object.values(VIOLATIONS)));

  it.each(Object.keys(VIOLATIONS))('report a file that breaks %s', (rule) => {
    expect(output).toContain(`error ${rule}:`);
    expect(status).not.toBe(0);
  });

  it('all have an example in VIOLATIONS', () => {
    const config: { forbidden: { name: string }[] } = jest.requireActual(join(root, 'dependency-cruiser.cjs'));
    expect(Object.keys(VIOLATIONS).sort()).toEqual(config.forbidden.map(({ name }) => name).sort());
  });
});

it('the dependency rules accept a tree that keeps them', () => {
  const files = {
    'libs/domain/src/a.ts': importOf('node:crypto'),
    'libs/platform/src/index.ts': '',
    'libs/persistence/src/a.ts': importOf('@iss/platform'),
    'libs/queue/src/a.ts': importOf('@iss/platform'),
  };
  expect(cruise(files)).toMatchObject({ status: 0 });
});
