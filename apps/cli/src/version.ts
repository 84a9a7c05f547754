/** As `package.json` has it, which a test compares. */
export const VERSION = '1.0.0';
