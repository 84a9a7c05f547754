{{- /* Labels of everything; a component has one more. Given a dict of root and component. */ -}}
{{- define "iss.labels" -}}
app.kubernetes.io/name: identity-state-service
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{- /* What never changes, so that it may select. */ -}}
{{- define "iss.selector" -}}
app.kubernetes.io/name: identity-state-service
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "iss.image" -}}
{{- $repository := required "image.repository has to be set: the registry that the image was pushed to, as registry.example.com/identity-state-service" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* What every pod has: no privileges, no token of the cluster, the values' own members. */ -}}
{{- define "iss.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  # Files of Secrets belong to this group and to nobody else.
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pod }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "iss.container" -}}
image: {{ include "iss.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{- /* How many of a component may run: its values. */ -}}
{{- define "iss.most" -}}
{{- if .autoscaling.enabled }}{{ int .autoscaling.max }}{{ else }}{{ int .replicas }}{{ end -}}
{{- end -}}

{{- /* Environment of both apps, then that of one: a dict of root, config, and the key of the database's URL. */ -}}
{{- define "iss.environment" -}}
- { name: APP_ENV, value: {{ .root.Values.environment | quote }} }
- { name: DATABASE_URL_FILE, value: /run/secrets/iss/{{ .database }} }
- { name: SECRETS_KEYS_FILE, value: /run/secrets/iss/SECRETS_KEYS }
{{- if eq .root.Values.queue "redis" }}
- { name: QUEUE_URL_FILE, value: /run/secrets/iss/QUEUE_URL }
{{- else }}
- { name: QUEUE_BACKEND, value: postgresql }
{{- end }}
- { name: SHUTDOWN_TIMEOUT_MS, value: {{ int .root.Values.shutdownTimeoutMs | quote }} }
- { name: MAX_GATEWAYS, value: {{ include "iss.most" .root.Values.gateway | quote }} }
- { name: MAX_WORKERS, value: {{ include "iss.most" .root.Values.worker | quote }} }
{{- if .root.Values.caConfigMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/iss/ca/ca.crt }
{{- end }}
{{- with .root.Values.telemetry.endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
{{- end }}
{{- if .root.Values.telemetry.headers }}
- { name: OTEL_EXPORTER_OTLP_HEADERS_FILE, value: /run/secrets/iss/OTEL_EXPORTER_OTLP_HEADERS }
{{- end }}
{{- if .root.Values.log.map }}
- { name: LOG_VRF_KEY_FILE, value: /run/secrets/iss/LOG_VRF_KEY }
{{- end }}
{{- if .root.Values.archive }}
- { name: AWS_SHARED_CREDENTIALS_FILE, value: /run/secrets/iss/AWS_CREDENTIALS }
{{- end }}
{{- range $name, $value := .root.Values.config }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $name, $value := .config }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{- /* Files of Secrets: a dict of secret and keys, and of others, a list of such dicts. */ -}}
{{- define "iss.secretVolume" -}}
- name: secrets
  projected:
    # 0440
    defaultMode: 288
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret }}
          items:
            {{- range .keys }}
            - { key: {{ . }}, path: {{ . }} }
            {{- end }}
      {{- end }}
{{- end -}}

{{- define "iss.caVolume" -}}
{{- with .Values.caConfigMap -}}
- name: ca
  configMap: { name: {{ . }} }
{{- end -}}
{{- end -}}

{{- define "iss.caMount" -}}
{{- if .Values.caConfigMap -}}
- { name: ca, mountPath: /etc/iss/ca, readOnly: true }
{{- end -}}
{{- end -}}

{{- /* Over nodes and zones as evenly as they allow; each version by itself, so that a rolling update ends spread too. A dict
of root, component and the label by which versions differ. */ -}}
{{- define "iss.spread" -}}
{{- $selector := include "iss.selector" . -}}
{{- $version := .version -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
  matchLabelKeys: [{{ $version }}]
{{- end }}
{{- end -}}

{{- /* Seconds until a pod is killed: ten more than the milliseconds that the process takes to end by itself. */ -}}
{{- define "iss.graceSeconds" -}}
{{ add (div (add . 999) 1000) 10 }}
{{- end -}}

{{- /* Probes of both apps. Readiness answers within half a second, whatever hangs. */ -}}
{{- define "iss.probes" -}}
startupProbe:
  httpGet: { path: /health, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /v1/ops/readiness, port: http }
  periodSeconds: 5
  timeoutSeconds: 2
  failureThreshold: 2
{{- end -}}
