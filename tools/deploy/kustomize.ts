import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { repositoryRoot } from '../root.ts';
import { chartFolder, renderChart, YAML, type Manifest } from './chart.ts';
import type { Fields } from './go-template.ts';

export const kustomizeFolder = join(repositoryRoot, 'deploy/kustomize');
const observabilityFolder = join(repositoryRoot, 'deploy/observability');

/** The release of the committed manifests. */
export const RELEASE = { name: 'identity-state-service', namespace: 'identity-state-service' };

export const kustomizeValues = (): Fields => parse(readFileSync(join(kustomizeFolder, 'values.yaml'), 'utf8'), YAML);

/** The folders of Kustomize, with their manifests and kinds. */
const FOLDERS: readonly { path: string; isOf: (manifest: Manifest) => boolean; kind: 'Kustomization' | 'Component' }[] =
  [
    { path: 'migration', kind: 'Kustomization', isOf: isHook },
    { path: 'components/keda', kind: 'Component', isOf: ({ apiVersion }) => apiVersion.startsWith('keda.sh/') },
    {
      path: 'components/prometheus',
      kind: 'Component',
      isOf: ({ apiVersion, metadata }) =>
        apiVersion.startsWith('monitoring.coreos.com/') || metadata.name.includes('-dashboard-'),
    },
    { path: 'base', kind: 'Kustomization', isOf: () => true },
  ];

function isHook({ metadata }: Manifest): boolean {
  return metadata.annotations?.['helm.sh/hook'] !== undefined;
}

/** Renders the chart with these values. Returns Kustomize's files by path below deploy/kustomize. */
export function kustomizeFiles(values: Fields): Map<string, string> {
  const files = new Map<string, string>();
  const { manifests } = renderChart(RELEASE, values);
  const placed = manifests.map((manifest) => ({
    manifest: withReplicas(withoutHelm(manifest), manifests),
    folder: FOLDERS.find(({ isOf }) => isOf(manifest)),
  }));
  for (const folder of FOLDERS) {
    const names = new Map<string, string[]>();
    for (const { manifest } of placed.filter((one) => one.folder === folder)) {
      const name = `${manifest.kind.toLowerCase()}.yaml`;
      names.set(name, [...(names.get(name) ?? []), stringify(manifest, { ...YAML, lineWidth: 0 })]);
    }
    if (names.size === 0) continue;
    for (const [name, texts] of names) files.set(`${folder.path}/${name}`, `${MADE}${texts.join('---\n')}`);
    const kustomization = {
      apiVersion: folder.kind === 'Component' ? 'kustomize.config.k8s.io/v1alpha1' : 'kustomize.config.k8s.io/v1beta1',
      kind: folder.kind,
      resources: [...names.keys()].sort(),
      ...(names.has('scaledobject.yaml') ? { patches: [SCALED] } : {}),
    };
    files.set(`${folder.path}/kustomization.yaml`, `${MADE}${stringify(kustomization)}`);
  }
  return files;
}

const MADE = '# Made from deploy/chart by npm run generate -- manifests; not to be edited.\n';

/** With this component, KEDA sets the number of workers. The base does not need it. */
const SCALED = {
  target: { kind: '(Deployment|StatefulSet)', labelSelector: 'app.kubernetes.io/component=worker' },
  patch: '[{ "op": "remove", "path": "/spec/replicas" }]',
};

function withReplicas(manifest: Manifest, all: readonly Manifest[]): Manifest {
  const { spec, kind, metadata } = manifest;
  if (kind !== 'Deployment' && kind !== 'StatefulSet') return manifest;
  const scaled = all.find((one) => one.kind === 'ScaledObject' && one.metadata.name === metadata.name)?.spec;
  if (typeof scaled !== 'object' || scaled === null || !('minReplicaCount' in scaled)) return manifest;
  return { ...manifest, spec: { replicas: scaled.minReplicaCount, ...Object(spec) } };
}

/** Removes Helm's annotations and its `managed-by` label. */
function withoutHelm(manifest: Manifest): Manifest {
  const isHelms = (name: string): boolean => name.startsWith('helm.sh/') || name === 'app.kubernetes.io/managed-by';
  const isLeft = (name: string, value: unknown): boolean =>
    !isHelms(name) && (name !== 'annotations' || !Object.keys(Object(value)).every(isHelms));
  return JSON.parse(JSON.stringify(manifest, (name, value: unknown) => (isLeft(name, value) ? value : undefined)));
}

/** Returns the chart's copies of deploy/observability by path below the chart, since Helm reads no file outside it. */
export function chartFiles(): Map<string, string> {
  const files = ['alerts.yaml', ...globSync('*.dashboard.json', { cwd: observabilityFolder }).sort()];
  return new Map(
    files.map((file) => [`files/${basename(file)}`, readFileSync(join(observabilityFolder, file), 'utf8')]),
  );
}

export const chartPath = (file: string): string => join(chartFolder, file);
