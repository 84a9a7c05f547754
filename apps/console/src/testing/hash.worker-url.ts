/** The address that the build assigns to the worker. */
export default '/console/assets/hash.worker.js';
