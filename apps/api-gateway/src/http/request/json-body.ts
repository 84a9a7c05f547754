import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { DomainError, type Role, ROLES } from '@iss/domain';
import type { Request } from 'express';
import { Shape } from '@iss/contract';
import type { InputOf, ResultOf, SentBody, TaskName } from '../../runtime/tasks';
import { isLarge } from '../../runtime/work';
import { RequestAsker } from './request-asker';
import { operationOf } from '../describe/operation.decorator';

declare module 'express-serve-static-core' {
  interface Request {
    /** The body as it was sent, after it was read. */
    bodyBytes?: Buffer;
  }
}

export const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Throws `unsupported_media_type` unless the headers declare this type and no encoding. */
export function requireBodyOf(request: Request, pattern: RegExp, type: string): void {
  if (!pattern.test(request.headers['content-type'] ?? '')) {
    throw new DomainError('unsupported_media_type', `Send the body as Content-Type: ${type}, in UTF-8.`);
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', 'Send the body without Content-Encoding.');
  }
}

/**
 * Returns the body as it was sent. Reads it only once. Throws `payload_too_large`, or `validation_error` if it is cut
 * off.
 */
export async function readBody(request: Request, maxBytes = request.settings.limits.bodyBytes): Promise<Buffer> {
  request.bodyBytes ??= await readBytes(request, maxBytes);
  return request.bodyBytes;
}

function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): DomainError =>
    new DomainError('payload_too_large', `The body is larger than ${maxBytes} bytes. Send a smaller one.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    if (request.complete) {
      const body = readBuffered(request);
      if (body.length > maxBytes) reject(tooLarge());
      else resolve(body);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        chunks.length = 0;
        reject(tooLarge());
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve(joined(chunks)));
    const cut = (): void => reject(new DomainError('validation_error', 'The body ended early. Send all of it.'));
    request.on('error', cut);
    request.on('aborted', cut);
    // The body was cut off during an earlier wait, so no further event will follow.
    if (request.destroyed) cut();
  });
}

/**
 * Returns a body that has already arrived completely, as nearly all do together with the head. `read` returns one chunk
 * at a time.
 */
function readBuffered(request: Request): Buffer {
  const chunks: Buffer[] = [];
  for (let chunk: unknown = request.read(); Buffer.isBuffer(chunk); chunk = request.read()) chunks.push(chunk);
  return joined(chunks);
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

/**
 * Returns the result of a task on the body as it was sent. Before a large body is processed in a thread, checks that
 * the caller has this role in the acting tenant. Throws `unsupported_media_type`, `payload_too_large`, `forbidden`, and
 * the task's errors.
 */
export async function bodyBy<Name extends TaskName>(
  context: ExecutionContext,
  role: Role,
  task: Name,
  inputOf: (body: SentBody) => InputOf<Name>,
): Promise<ResultOf<Name>> {
  const request = context.switchToHttp().getRequest<Request>();
  requireBodyOf(request, JSON_TYPE, 'application/json');
  const bytes = await readBody(request);
  const { limits, work, largeBodies } = request.settings;
  if (isLarge(bytes.length)) await largeBodies.require(context, role);
  return work.run(new RequestAsker(request), task, inputOf({ bytes, maxDepth: limits.jsonDepth }));
}

/** The lowest role, which every member of a tenant has. Some members may do more than their role allows. */
const [ANY_ROLE] = ROLES;

/**
 * Injects the request's JSON, checked against the shape of its operation (contract, "Unknown fields in fixed-shape
 * request bodies"). If the operation's body is optional, a request without body and `Content-Type` is an object without
 * fields.
 *
 * It is a parameter decorator and not a middleware, so that nothing of a body is read before the caller is known.
 * Throws `unsupported_media_type`, `payload_too_large`, or `validation_error` that names each place by JSON Pointer.
 */
export const JsonBody = createParamDecorator(async (_: unknown, context: ExecutionContext): Promise<object> => {
  const { body: shape, isBodyOptional } = operationOf(context) ?? {};
  if (!(shape instanceof Shape)) throw new Error(`${context.getHandler().name} takes no body of a fixed shape`);
  if (isBodyOptional === true) {
    const { length } = await readBody(context.switchToHttp().getRequest<Request>());
    if (length === 0) return shape.require({});
  }
  const { names: fields, items } = shape;
  return shape.require(await bodyBy(context, ANY_ROLE, 'read_body', (body) => ({ ...body, fields, items })));
});
