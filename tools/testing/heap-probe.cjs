// Loaded into a process of the product (--require). Serves the number of allocated bytes on HEAP_PROBE_PORT.
const { createServer } = require('node:http');
const { getHeapStatistics } = require('node:v8');

createServer((_request, response) => response.end(String(getHeapStatistics().total_allocated_bytes)))
  .listen(Number(process.env.HEAP_PROBE_PORT), '127.0.0.1')
  .unref();
