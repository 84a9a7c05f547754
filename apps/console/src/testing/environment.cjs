const { TestEnvironment } = require('jest-environment-jsdom');

// A bundler that ran before leaves `production` here: React has no `act` then.
process.env.NODE_ENV = 'test';

/** Interfaces that browsers and Node have, and jsdom does not. */
const SHARED = [
  'AbortController', 'AbortSignal', 'Blob', 'File', 'Headers', 'ReadableStream', 'Response', 'TextDecoder', 'TextEncoder',
  'Uint8Array', 'ArrayBuffer', 'crypto', 'setImmediate', 'clearImmediate', 'structuredClone',
]; // prettier-ignore

/** jsdom with the interfaces of a browser that the console needs. */
module.exports = class ConsoleEnvironment extends TestEnvironment {
  constructor(config, context) {
    const { projectConfig } = config;
    const testEnvironmentOptions = {
      ...projectConfig.testEnvironmentOptions,
      url: 'https://console.example/console',
      pretendToBeVisual: true,
    };
    super({ ...config, projectConfig: { ...projectConfig, testEnvironmentOptions } }, context);
    for (const name of SHARED) {
      Object.defineProperty(this.global, name, { value: globalThis[name], configurable: true, writable: true });
    }
  }
};
