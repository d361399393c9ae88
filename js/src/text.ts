// Strict reading of texts, and the tables of alphabets. This file knows no format.

import { badCharacter, badLength, type FormatName, notText } from "./errors.js";

/** The characters of a number system, with the table of their values. */
export interface Alphabet {
  readonly digits: string;
  /** The values by character: FOREIGN outside the alphabet, with the bit FOLDED in the other case. */
  readonly values: Int8Array;
  /** The alphabet in words, after "character 'x' is not". */
  readonly name: string;
  /** Returns a remark about a foreign character, or "". */
  readonly hint: (character: string) => string;
}

const FOREIGN = -1;
/** The bit of a letter in the case that is read and not written. */
const FOLDED = 64;

/** Returns the alphabet of the digits in the order of their values. If fold is true, letters have both cases. */
export function alphabet(
  digits: string,
  fold: boolean,
  name: string,
  hint: (character: string) => string = () => "",
): Alphabet {
  const values = new Int8Array(128).fill(FOREIGN);
  for (let value = 0; value < digits.length; value++) {
    const digit = digits.charAt(value);
    const other = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
    if (fold) values[other.charCodeAt(0)] = value | FOLDED;
    values[digit.charCodeAt(0)] = value;
  }
  return { digits, values, name, hint };
}

export const DECIMAL: Alphabet = /* @__PURE__ */ alphabet("0123456789", false, "a decimal digit");
export const HEX: Alphabet = /* @__PURE__ */ alphabet("0123456789abcdef", true, "a hexadecimal digit");

/** Returns the value of the character at the position, without its case. The text is valid. */
export function digitAt(a: Alphabet, text: string, position: number): number {
  return a.values[text.charCodeAt(position)]! & (FOLDED - 1);
}

/** The right lengths in words. */
type Want = string | ((length: number) => string);

/** Returns the bits of all values: negative if a character is foreign, with FOLDED if a letter has the other case. */
function scan(values: Int8Array, text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bits |= code < 128 ? values[code]! : FOREIGN;
  }
  return bits;
}

/**
 * Checks that a text has least to most characters, all in the alphabet. Returns whether the text is in
 * the case that the alphabet writes, and otherwise throws a ParseError. The parameter want names the
 * right lengths, and may depend on the wrong length.
 */
export function check(format: FormatName, a: Alphabet, text: string, least: number, most: number, want: Want): boolean {
  if (typeof text === "string" && text.length >= least && text.length <= most) {
    const bits = scan(a.values, text);
    if (bits >= 0) return bits < FOLDED;
  }
  throw refuse(format, a, text, least, most, want);
}

/** Returns the error of a text that is not valid. Lengths are in bytes of UTF-8, as in all of Firn. */
function refuse(format: FormatName, a: Alphabet, text: string, least: number, most: number, want: Want): Error {
  if (typeof text !== "string") return notText(format, text);
  const length = byteLength(text);
  if (length < least || length > most) return badLength(format, text, length, typeof want === "string" ? want : want(length));
  let offset = 0;
  while (offset < text.length && scan(a.values, text.charAt(offset)) >= 0) offset++;
  const character = text.charAt(offset);
  return badCharacter(format, text, offset, a.name + a.hint(character));
}

/** Returns the length of a text in bytes of UTF-8. */
export function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) length++;
    // Each half of a surrogate pair has two of the four bytes. A lone half becomes U+FFFD, of three bytes.
    if (
      code >= 0x800 &&
      !(code >= 0xd800 && code < 0xe000 && (text.codePointAt(i - (code >> 10 === 0x37 ? 1 : 0)) ?? 0) > 0xffff)
    )
      length++;
  }
  return length;
}
