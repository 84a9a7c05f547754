import { DomainError } from '@iss/domain';
import { encodeBase64 } from '@iss/tlog';
import { logKeys } from '@iss/map';
import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ConsistencyProof, ConsistencyQuery, LOG, LogKeys } from '@iss/contract';
import { Public } from '../../auth/public.decorator';
import { PublicFile } from '../../http/answer/public-file';
import { Hot } from '../../http/fast/hot-routes';
import { QueryOf } from '../../http/lists/query';
import { type LogFileContent, LogTreeService } from '../../log/log-tree.service';
import { type LogFile, LogFileParam } from './log-file-param';
import { EntryBundles, type NoBundle } from './entry-bundles';
import { Operation } from '../../http/describe/operation.decorator';

const PLAIN = 'text/plain; charset=utf-8';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Serves the public part of the log (C2SP tlog-tiles): hashes, signatures and the public texts of entries, which reveal
 * nothing about the logged facts. Scripts of any origin may read it.
 */
@Controller()
export class LogController {
  constructor(
    private readonly tree: LogTreeService,
    private readonly bundles: EntryBundles,
  ) {}

  @Hot()
  @Operation(LOG.getCheckpoint)
  async getCheckpoint(): Promise<PublicFile> {
    const checkpoint = await this.tree.checkpoint();
    if (checkpoint === null) return refusal('The log has no published checkpoint yet. Try again shortly.');
    return new PublicFile(PLAIN, checkpoint.note, 'no-store');
  }

  @Operation(LOG.getLogKeys)
  async getLogKeys(@Res({ passthrough: true }) response: Response): Promise<LogKeys> {
    share(response);
    const { origin } = await this.tree.requireCheckpoint();
    const [keys, policy, map] = await Promise.all([this.tree.keys(), this.tree.policy(), this.bundles.mapOf(origin)]);
    return logKeys(origin, keys, policy, map);
  }

  @Operation(LOG.getConsistencyProof)
  async getConsistencyProof(
    @QueryOf() query: ConsistencyQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ConsistencyProof> {
    share(response);
    const { size } = await this.tree.requireCheckpoint();
    const [from, to] = [Number(query.from), Number(query.to)];
    if (to > size) throw outOfRange('to', `must be at most ${size}, the published size`);
    if (from > to) throw outOfRange('from', 'must be at most to');
    return { from, to, proof: (await this.tree.consistency(from, to)).map(encodeBase64) };
  }

  @Hot()
  @Get('log/tile/*path')
  @Public()
  async getFile(@LogFileParam() file: LogFile | null): Promise<PublicFile> {
    const content = await this.contentOf(file);
    if ('refusal' in content) return refusal(content.refusal);
    const { bytes, isPublished } = content;
    return new PublicFile('application/octet-stream', bytes, isPublished ? IMMUTABLE : 'no-store');
  }

  private async contentOf(file: LogFile | null): Promise<LogFileContent | NoBundle> {
    if (file !== null && 'bundle' in file) return this.bundles.read(file.bundle);
    const hashes = file === null ? null : await this.tree.tile(file.tile);
    return (
      hashes ?? {
        refusal: 'The log has no such tile. Check level and index against the size in the checkpoint.',
      }
    );
  }
}

function share(response: Response): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
}

/** Returns a 404 in plain text, which C2SP clients expect. */
function refusal(text: string): PublicFile {
  return new PublicFile(PLAIN, `${text}\n`, 'no-store', 404);
}

function outOfRange(name: string, message: string): DomainError {
  return new DomainError('validation_error', `${name} ${message}.`, [
    { path: `/query/${name}`, message, code: 'out_of_range' },
  ]);
}
