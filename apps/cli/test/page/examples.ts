import type { IdentityState } from '@identity-state/client';
import { EXAMPLE_CREDENTIAL } from '../../../../libs/contract/src/attestations/example-credential';
import { LOG_PLACE, READER_EXAMPLES, READER_FILES } from './reader-examples';

/** A line of the story that a test runs in this order. */
export interface Example {
  /** The command in docs/cli.md that shows the line with its output. */
  of?: string;
  /** The line as typed, with words, 'quotes', < FILE, > FILE, and $NAME for a part of earlier output. */
  line: string;
  exitCode?: 0 | 1 | 2;
  /** Runs before the line, as the lender. */
  first?: (lender: IdentityState) => Promise<void>;
  /** Parts of the output for later lines: the first group of each expression. */
  keep?: Readonly<Record<string, RegExp>>;
  /** Replacements for output that differs from run to run, beyond ids, hashes and today's times. */
  blur?: readonly (readonly [RegExp, string])[];
}

/** The time at which a credential expires. */
const UNTIL: Example['blur'] = [[/20\d\d-\S+Z$/gm, '2026-02-08T10:00:00.000Z']];

/** The agent (profile `default`) keeps the records of a company, and the lender (profile `lender`) reads them. */
export const EXAMPLES: readonly Example[] = [
  { line: 'iss login --token-stdin < token' },
  { line: 'iss login --profile lender --token-stdin < lender-token' },
  { line: 'iss use agency --create "Registered agent"' },
  { line: 'iss use lender --create Lender --profile lender' },
  { line: 'iss whoami' },
  { line: 'iss completion bash > iss.bash' },
  { line: 'iss logout --profile auditor' },
  { line: 'iss put harbour-1.json' },
  { line: 'iss put harbour-1.json' },
  { line: 'iss get harbour' },
  { line: 'iss get organization/harbour@2', exitCode: 1 },
  {
    line: `iss propose harbour --set '/attributes/legal/legal_name="Harbour Works plc"' --remove /attributes/contact --evidence resolution.json`,
    keep: { UPDATE: /^To apply it: iss apply (\S+)$/m },
  },
  { line: `iss propose harbour --set '/attributes/legal/form=plc'`, exitCode: 2 },
  { line: 'iss proposals' },
  { line: 'iss apply $UPDATE' },
  { line: `iss propose harbour --set '/attributes/legal/form="plc"' --correction`, keep: { OTHER: /(\S+)$/ } },
  { line: 'iss withdraw $OTHER' },
  { line: 'iss subjects --type organization' },
  { line: 'iss erasures harbour' },
  { line: 'iss members' },
  { line: 'iss credential key create', blur: [[/http:\S+(?=\/tenants)/, 'https://iss.example.com']] },
  { line: 'iss credential key list', keep: { KEY: /^([\w-]{43}) /m } },
  { line: 'iss credential issue harbour@2 --path /attributes/legal --days 7', blur: [[/ey\S+~$/, 'eyJhbGci…~']] },
  {
    line: 'iss credential offer harbour@2 --path /attributes/legal',
    blur: [
      [/openid-credential-offer:\S+/, 'openid-credential-offer://?credential_offer=…'],
      [/(?<=tx_code: )\d{6}/, '493536'],
      [/(?<=until )\S+/, '2026-01-15T10:10:00Z'],
    ],
  },
  { line: 'iss credential list', keep: { CREDENTIAL: /^(cred_\S+)/m }, blur: UNTIL },
  { line: 'iss credential get $CREDENTIAL', blur: UNTIL },
  { line: 'iss credential withdraw $CREDENTIAL', blur: UNTIL },
  { line: 'iss credential key retire $KEY' },
  { line: 'iss api GET /v1/tenants/agency' },
  {
    line: `iss issuers trust ${EXAMPLE_CREDENTIAL.issuer} --type ${EXAMPLE_CREDENTIAL.vct} --keys keys.json`,
  },
  { line: 'iss issuers' },
  { line: 'iss attestations add extract.sd-jwt' },
  { line: 'iss attestations' },
  {
    line: `iss attestations request ${EXAMPLE_CREDENTIAL.vct} --claim /legal_name`,
    keep: { REQUEST: /^Answer (\S+)/m },
    blur: [
      [/openid4vp:\S+/, 'openid4vp://?client_id=…'],
      [/(?<=until )\S+/, '2026-01-15T10:10:00Z'],
    ],
  },
  { line: 'iss attestations wait $REQUEST --seconds 0', exitCode: 1 },
  { line: `iss issuers remove ${EXAMPLE_CREDENTIAL.issuer}` },
  { line: 'iss proof harbour@1 > harbour.proof' },
  { line: 'iss log harbour' },
  { line: 'iss log harbour --oneline' },
  { line: 'iss diff harbour 1..2' },
  { line: 'iss blame harbour' },
  { line: 'iss blame harbour --status carried' },
  { line: 'iss blame harbour@1 /attributes/legal --json' },
  {
    line: 'iss get harbour --as-of 2025-06-30T00:00:00Z --basis effective --policy policy',
    blur: [
      [/entry \d+ of a log of \d+/, 'entry 3 of a log of 5'],
      [/(localhost\/witness\/)[0-9a-f]+/, '$1c55db5a5'],
    ],
  },
  ...READER_EXAMPLES,
];

/** The story of the recording in the README, after the examples. */
export const RECORDED: readonly Example[] = [
  { line: 'iss put ferry.json' },
  {
    line: `iss propose ferry --set '/attributes/legal/legal_name="Ferry Works plc"' --evidence resolution.json`,
    keep: { UPDATE: /^To apply it: iss apply (\S+)$/m },
  },
  { line: 'iss apply $UPDATE' },
  { line: 'iss diff ferry' },
  { line: 'iss blame ferry' },
  { line: 'iss export ferry --proofs > ferry.ndjson' },
  {
    line: 'iss verify ferry.ndjson --policy policy',
    blur: LOG_PLACE,
  },
];

const audit = { created_by: 'onboarding', created_at: '2025-03-01T09:00:00Z', source: 'register' };
const extract = {
  evidence_id: 'ex-2025',
  evidence_type: 'registry_extract',
  source: 'register',
  captured_at: '2025-03-01T08:00:00Z',
};

/** The files that the lines name, without the tokens and the log policy. */
export const FILES: Readonly<Record<string, unknown>> = {
  'extract.sd-jwt': EXAMPLE_CREDENTIAL.text,
  'keys.json': { keys: [EXAMPLE_CREDENTIAL.key] },
  'harbour-1.json': {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: '2f6c1a7e-5d0b-4a8e-9b53-6f1f1f0a0001',
    snapshot_version: 1,
    generated_at: '2025-03-01T09:00:00Z',
    subject: { subject_type: 'organization', subject_id: 'harbour' },
    attributes: {
      legal: { legal_name: 'Harbour Works Ltd', form: 'Ltd' },
      jurisdiction: { country: 'IE' },
      contact: { email: 'info@harbour.example' },
    },
    evidence: [extract],
    attribute_paths: {
      '/attributes/legal': [{ evidence_id: 'ex-2025', evidence_type: 'registry_extract', role: 'primary' }],
    },
    audit,
  },
  'ferry.json': {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: '2f6c1a7e-5d0b-4a8e-9b53-6f1f1f0a0002',
    snapshot_version: 1,
    generated_at: '2025-03-01T09:00:00Z',
    subject: { subject_type: 'organization', subject_id: 'ferry' },
    attributes: {
      legal: { legal_name: 'Ferry Works Ltd', form: 'Ltd' },
      jurisdiction: { country: 'IE' },
      contact: { email: 'info@ferry.example' },
    },
    evidence: [extract],
    attribute_paths: {
      '/attributes/legal': [{ evidence_id: 'ex-2025', evidence_type: 'registry_extract', role: 'primary' }],
    },
    audit,
  },
  'resolution.json': {
    evidence_id: 're-2026',
    evidence_type: 'resolution',
    source: 'shareholders',
    captured_at: '2026-01-10T08:00:00Z',
  },
  ...READER_FILES,
};
