import type { FormatName } from "./errors.js";

declare const format: unique symbol;

/**
 * An ID of a format: a string or a number that only the functions of the format's module make. IDs of two
 * formats have two types, so a program that mixes formats does not compile.
 */
export type Id<F extends FormatName, Value extends string | number> = Value & { readonly [format]: F };

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compareIds<Value extends string | number>(a: Value, b: Value): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
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
