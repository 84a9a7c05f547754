import { parsePolicy, type Policy, TlogError } from '@iss/tlog';

/** Parses a policy (C2SP tlog-policy). Returns what is wrong with it instead of throwing, because this file is loaded on its own. */
export function policyOrWhyNot(text: string): Policy | string {
  try {
    return parsePolicy(text);
  } catch (error) {
    if (error instanceof TlogError) return error.message;
    throw error;
  }
}
