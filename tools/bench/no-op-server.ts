import 'reflect-metadata';
import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';

/** The ceiling of the framework: Nest on Express with an empty route and none of our middleware. */
class NoOpController {
  get(): { ok: boolean } {
    return { ok: true };
  }

  post(body: { snapshot_id?: unknown }): { ok: boolean } {
    return { ok: body.snapshot_id !== undefined };
  }
}
class NoOpModule {}

// Node strips types but does not run decorators, so they are called here.
const method = (name: 'get' | 'post'): PropertyDescriptor => {
  const descriptor = Object.getOwnPropertyDescriptor(NoOpController.prototype, name);
  if (descriptor === undefined) throw new Error(`there is no ${name}`);
  return descriptor;
};
Get('no-op')(NoOpController.prototype, 'get', method('get'));
Post('no-op')(NoOpController.prototype, 'post', method('post'));
Body()(NoOpController.prototype, 'post', 0);
Controller()(NoOpController);
Module({ controllers: [NoOpController] })(NoOpModule);

const app = await NestFactory.create<NestExpressApplication>(NoOpModule, { logger: false });
await app.listen(Number(process.env['PORT']), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
