import type { FormatName } from "./errors.js";

declare const format: unique symbol;

/**
 * An ID of a format: a string or a number that only the functions of the format's module make. IDs of two
 * formats have two types, so a program that mixes formats does not compile.
 */
export type Id<F extends FormatName, Value extends string | number> = Value & { readonly [format]: F };

// A format's functions read each ID that a program passes: types end where JSON.parse begins. The parameter read of
// the functions below is the format's reader, which throws a ParseError for a value that is no ID.

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compareIds<Value extends string | number>(read: (id: Value) => Value, a: Value, b: Value): -1 | 0 | 1 {
  const [left, right] = [read(a), read(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns what Go's packages write in JSON: the ID, or null for the zero ID. */
export function jsonOf<Value extends string | number>(read: (id: Value) => Value, zero: Value, id: Value): Value | null {
  const value = read(id);
  return value === zero ? null : value;
}

/** Reports whether a format's parse reads a value. */
export function isParsed(parse: (text: string) => string | number, value: unknown): boolean {
  try {
    parse(value as string);
    return true;
  } catch {
    return false;
  }
}

/** Reports whether a value is the canonical text of an ID, by the format's parse. */
export function isCanonical(parse: (text: string) => string, value: unknown): boolean {
  try {
    return parse(value as string) === value;
  } catch {
    return false;
  }
}
