/** The address that the build gives to the worker. */
export default '/console/assets/hash.worker.js';
