import { type api, ConflictError, type SnapshotHeader, type Tenant } from '@identity-state/client';
import { canonicalize, hashText, parseJson } from '@iss/domain';
import { type CommandContext, UsageError } from '../../command';
import { defineCommand } from '../../define';
import { readWhole } from '../../files';
import { Members } from '@iss/proof';
import { JSON_OPTION, showOne } from '../../output';
import { asCaller, CALLER_OPTIONS } from '../../service/caller';
import { isEnvelope } from '../../service/envelopes';
import { visible } from '../../visible';

/** The limit in bytes, which is above the limit of any deployment. */
const MAX_ENVELOPE = 64_000_000;
const MAX_DEPTH = 640;

export const put = defineCommand({
  about:
    'The file holds one envelope. iss compares the stored hash with the hash of the file. If the same version is already stored, the result is “known”.',
  arguments: { file: { about: 'JSON envelope, or - for standard input.' } },
  options: {
    correction: { about: 'Correct an error: set change_kind of the envelope.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run({ file, correction }, context, options) {
    const sent = await envelopeOf(file, context);
    const envelope = correction ? { ...sent, change_kind: 'correction' as const } : sent;
    await asCaller(options, context, async ({ tenant }) => {
      const { header, outcome } = await writtenOrKnown(tenant, envelope);
      showOne(options, context, header, ({ subject, snapshot_version: version, envelope_hash: hash }) =>
        visible(`${subject.subject_type}/${subject.subject_id}@${version} ${outcome}, sha256 ${hash ?? ''}`),
      );
    });
  },
});

/** Writes the version, or finds the same version already stored. Throws the refusal of the service. */
async function writtenOrKnown(
  tenant: Tenant,
  envelope: api.Envelope,
): Promise<{ header: SnapshotHeader; outcome: 'written' | 'known' }> {
  try {
    return { header: await tenant.write(envelope), outcome: 'written' };
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const { subject_type: type, subject_id: id } = envelope.subject;
    const known = await tenant
      .subject(type, id)
      .version(envelope.snapshot_version)
      .catch(() => null);
    const hash = hashText(canonicalize(parseJson(Buffer.from(JSON.stringify(envelope)), { maxDepth: MAX_DEPTH })));
    if (known === null || known.envelope_hash !== hash) throw error;
    return { header: known, outcome: 'known' };
  }
}

/** Parses the file strictly, so that no content is lost. The service checks that it is an envelope. */
async function envelopeOf(file: string, { input }: CommandContext): Promise<api.Envelope> {
  const bytes = file === '-' ? Buffer.from(await input()) : readWhole(file, 'envelope', MAX_ENVELOPE);
  Members.parse(file === '-' ? 'Standard input' : file, bytes);
  const envelope = parseJson(bytes, { maxDepth: MAX_DEPTH });
  if (!isEnvelope(envelope)) throw new UsageError('The file is not an envelope. Add its subject and snapshot_version.');
  return envelope;
}
