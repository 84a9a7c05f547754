const ESCAPED = /\\u[dD][89a-fA-F]/;

/**
 * Whether a JSON text holds an escaped surrogate, or what looks like one. `JSON.stringify` writes one for half of a
 * surrogate pair, which is no character and must be refused (RFC 8785, section 3.2.2.2).
 */
export const hasEscapedSurrogate = (text: string): boolean => text.includes('\\') && ESCAPED.test(text);
