import { join } from 'node:path';
import { Ajv } from 'ajv';
import * as ts from 'typescript';
import type { Manifest } from '../deploy/chart.ts';
import { repositoryRoot } from '../root.ts';

/** Groups of the Kubernetes API, by the folders with their types. */
const GROUPS: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'policy/v1': 'policy/v1',
  'autoscaling/v2': 'autoscaling/v2',
  'networking.k8s.io/v1': 'networking/v1',
};

const text = { type: 'string', minLength: 1 };
const labels = { type: 'object', additionalProperties: { type: 'string' } };
const shape = (properties: Record<string, unknown>, optional: readonly string[] = []): Record<string, unknown> => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const ofKind = (spec: Record<string, unknown>): Record<string, unknown> =>
  shape({
    apiVersion: text,
    kind: text,
    metadata: shape({ name: text, namespace: text, labels }, ['namespace']),
    spec,
  });

/** The parts that the chart uses of kinds which other projects define. */
const OF_OTHERS: Readonly<Record<string, Record<string, unknown>>> = {
  // https://keda.sh/docs/latest/reference/scaledobject-spec/
  'keda.sh/v1alpha1 ScaledObject': ofKind(
    shape({
      scaleTargetRef: shape({
        apiVersion: { const: 'apps/v1' },
        kind: { enum: ['Deployment', 'StatefulSet'] },
        name: text,
      }),
      minReplicaCount: { type: 'integer', minimum: 0 },
      maxReplicaCount: { type: 'integer', minimum: 1 },
      fallback: shape({ failureThreshold: { type: 'integer' }, replicas: { type: 'integer' } }),
      advanced: shape({ horizontalPodAutoscalerConfig: shape({ behavior: { type: 'object' } }) }),
      triggers: {
        type: 'array',
        minItems: 1,
        // A scaler's metadata are texts, including numbers.
        items: shape({
          type: { const: 'prometheus' },
          metadata: shape({ serverAddress: text, query: text, threshold: text }),
        }),
      },
    }),
  ),
  // https://prometheus-operator.dev/docs/api-reference/api/
  'monitoring.coreos.com/v1 PodMonitor': ofKind(
    shape({
      selector: shape({
        matchLabels: labels,
        matchExpressions: {
          type: 'array',
          items: shape({ key: text, operator: { enum: ['In', 'NotIn'] }, values: { type: 'array', items: text } }),
        },
      }),
      podMetricsEndpoints: {
        type: 'array',
        minItems: 1,
        items: shape({ port: text, path: text, interval: { type: 'string', pattern: '^[0-9]+s$' } }),
      },
    }),
  ),
  'monitoring.coreos.com/v1 PrometheusRule': ofKind(
    shape({
      groups: {
        type: 'array',
        minItems: 1,
        items: shape({
          name: text,
          rules: {
            type: 'array',
            minItems: 1,
            items: shape(
              {
                alert: text,
                expr: text,
                for: { type: 'string', pattern: '^[0-9]+[smhd]$' },
                labels,
                annotations: labels,
              },
              ['for'],
            ),
          },
        }),
      },
    }),
  ),
};

/**
 * Returns the faults of manifests, one per line. Checks them against types from Kubernetes' own OpenAPI document (the package
 * kubernetes-types). TypeScript applies them as strictly as the API server with strict field validation: it reports misspelt,
 * missing and wrongly typed fields. Other kinds are checked against the shapes above.
 */
export function faultsOfManifests(manifests: readonly Manifest[]): string[] {
  const own = manifests.filter(({ apiVersion }) => GROUPS[apiVersion] !== undefined);
  return [...typeFaults(own), ...manifests.filter((manifest) => !own.includes(manifest)).flatMap(shapeFaults)];
}

function shapeFaults(manifest: Manifest): string[] {
  const schema = OF_OTHERS[`${manifest.apiVersion} ${manifest.kind}`];
  if (schema === undefined) return [`${manifest.apiVersion} ${manifest.kind} is not a known kind`];
  const check = new Ajv({ allErrors: true }).compile(schema);
  // Not part of the condition, which would narrow the type to `never`.
  const isRight: boolean = check(manifest) === true;
  if (isRight) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message }) => `${manifest.kind} ${manifest.metadata.name} ${instancePath} ${message}`,
  );
}

function typeFaults(manifests: readonly Manifest[]): string[] {
  const file = join(repositoryRoot, 'tools/manifests.generated.ts');
  const source = manifests
    .map((manifest, index) => {
      const type = `import('kubernetes-types/${GROUPS[manifest.apiVersion]}').${manifest.kind}`;
      return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
    })
    .join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ESNext) : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  return [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ].map(({ messageText, start = 0 }) => {
    const before = source.slice(0, start).split('\n');
    const number = Number(/manifest(\d+):/.exec(before.findLast((line) => line.startsWith('export const')) ?? '')?.[1]);
    const manifest = manifests[number];
    const line = source.split('\n')[before.length - 1]?.trim() ?? '';
    return `${manifest?.kind} ${manifest?.metadata.name}: ${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
