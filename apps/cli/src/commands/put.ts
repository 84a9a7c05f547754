import type { api } from '@identity-state/client';
import { type Command, type CommandContext, textOf } from '../command';
import { readWhole } from '../files';
import { Members } from '@identity-state/client/bundle';
import { JSON_OPTION, showOne } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';

/** Bytes: more than any deployment takes. */
const MAX_ENVELOPE = 64_000_000;

/** Writes a version as its writer has it. */
export const put: Command = {
  about:
    'The file holds one envelope. What the service says that it stored is compared with what was sent: the line that is printed ' +
    'ends with the hash of both.',
  arguments: [{ name: 'file', about: 'The envelope, JSON; - is standard input.' }],
  options: { ...CALLER_OPTIONS, ...JSON_OPTION },
  async run(options, context) {
    const envelope = await envelopeOf(textOf(options, 'file') ?? '', context);
    await asCaller(options, context, async ({ tenant }) => {
      const written = await tenant.write(envelope);
      showOne(
        options,
        context,
        written,
        ({ subject, snapshot_version: version, envelope_hash: hash }) =>
          `${subject.subject_type}/${subject.subject_id}@${version} written, sha256 ${hash ?? ''}`,
      );
    });
  },
};

/** What the file says, read strictly: nothing may be lost on the way. Whether it is an envelope the service says. */
async function envelopeOf(file: string, { input }: CommandContext): Promise<api.Envelope> {
  const bytes = file === '-' ? Buffer.from(await input()) : readWhole(file, 'envelope', MAX_ENVELOPE);
  Members.parse(file === '-' ? 'Standard input' : file, bytes);
  const envelope: api.Envelope = JSON.parse(bytes.toString('utf8'));
  return envelope;
}
