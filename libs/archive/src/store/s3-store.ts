import type * as Sdk from '@aws-sdk/client-s3';
import { s3Env } from '@iss/platform';
import { type ObjectHeaders, ObjectMissing, type ObjectStore } from './object-store';

const CONNECT_MS = 1_000;
/** A request that has no answer after this time is tried once more. It is long enough for a pack. Readers abort theirs earlier. */
const ANSWER_MS = 60_000;
const TRIES = 2;

/** Objects in a bucket of S3 or of a compatible store. Endpoint, region and credentials come from the standard `AWS_…` variables. */
export class S3Store implements ObjectStore {
  private readonly client: Sdk.S3Client;

  private constructor(
    private readonly sdk: typeof Sdk,
    private readonly bucket: string,
    private readonly prefix: string,
  ) {
    const { endpoint, region } = s3Env();
    this.client = new sdk.S3Client({
      region,
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      maxAttempts: TRIES,
      requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
      // Some compatible stores do not support the newer checksums. They are not needed, because each text is verified
      // by its own hash.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  /** Loads the client, which nobody else needs. */
  static async open(bucket: string, prefix: string): Promise<S3Store> {
    return new S3Store(await import('@aws-sdk/client-s3'), bucket, prefix);
  }

  async put(name: string, bytes: Buffer, signal: AbortSignal, headers?: ObjectHeaders): Promise<void> {
    const command = new this.sdk.PutObjectCommand({
      ...this.of(name),
      Body: bytes,
      ContentLength: bytes.length,
      ...(headers && { ContentType: headers.contentType, CacheControl: headers.cacheControl }),
    });
    await this.client.send(command, { abortSignal: signal });
  }

  async read(name: string, offset: number, length: number, signal: AbortSignal): Promise<Buffer> {
    const range = `bytes=${offset}-${offset + length - 1}`;
    try {
      const command = new this.sdk.GetObjectCommand({ ...this.of(name), Range: range });
      const { Body: body } = await this.client.send(command, { abortSignal: signal });
      if (body === undefined) return Buffer.alloc(0);
      return Buffer.from(await body.transformToByteArray());
    } catch (error) {
      if (error instanceof this.sdk.NoSuchKey) throw new ObjectMissing(name);
      // The object is shorter than the range that was requested.
      if (error instanceof Error && error.name === 'InvalidRange') return Buffer.alloc(0);
      throw error;
    }
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.client.send(new this.sdk.DeleteObjectCommand(this.of(name)), { abortSignal: signal });
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.client.send(new this.sdk.HeadBucketCommand({ Bucket: this.bucket }), { abortSignal: signal });
  }

  close(): void {
    this.client.destroy();
  }

  private of(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + name };
  }
}
