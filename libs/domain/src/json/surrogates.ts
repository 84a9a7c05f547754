const ESCAPED = /\\u[dD][89a-fA-F]/;

/**
 * Checks whether a JSON text contains an escaped surrogate, or something that looks like one. `JSON.stringify` writes
 * one for half of a surrogate pair, which must be refused (RFC 8785, section 3.2.2.2).
 */
export const hasEscapedSurrogate = (text: string): boolean => text.includes('\\') && ESCAPED.test(text);
