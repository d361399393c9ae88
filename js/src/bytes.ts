// Binary forms: bytes and their texts.

import { badLength, badType, type FormatName } from "./errors.js";
import { type Alphabet, check, digitAt, HEX } from "./text.js";

/** Checks that a value is a Uint8Array of so many bytes. */
export function checkBytes(format: FormatName, bytes: Uint8Array, size: number): Uint8Array {
  // This getter knows arrays of another realm, such as a frame, and no object that only has the tag.
  if (Reflect.get(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag, bytes) !== "Uint8Array")
    throw badType(format, bytes, "Uint8Array");
  if (bytes.length !== size) throw badLength(format, hexOf(bytes.subarray(0, 33)), bytes.length, `${size} bytes`);
  return bytes;
}

/** Returns bytes in hexadecimal. */
export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX.digits.charAt(byte >> 4) + HEX.digits.charAt(byte & 15);
  return text;
}

/** Reads exactly size bytes in hexadecimal. */
export function bytesOfHex(format: FormatName, text: string, size: number): Uint8Array {
  check(format, HEX, text, 2 * size, 2 * size, String(2 * size));
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (digitAt(HEX, text, 2 * i) << 4) | digitAt(HEX, text, 2 * i + 1);
  return bytes;
}

/** Returns the bytes of a valid base-32 text with a whole number of bytes. */
export function bytesOf32(a: Alphabet, text: string): Uint8Array {
  const bytes = new Uint8Array((text.length * 5) / 8);
  let held = 0;
  let bits = 0;
  let size = 0;
  for (let i = 0; i < text.length; i++) {
    held = ((held << 5) | digitAt(a, text, i)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[size++] = held >> bits;
    }
  }
  return bytes;
}

/** Returns the base-32 text of bytes, whose number is a multiple of 5. */
export function text32Of(a: Alphabet, bytes: Uint8Array): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5;) {
      bits -= 5;
      text += a.digits.charAt((held >> bits) & 31);
    }
  }
  return text;
}

/** Returns the big-endian integer of size bytes from the position on; size is at most 6. */
export function uintAt(bytes: Uint8Array, position: number, size: number): number {
  let value = 0;
  for (let i = position; i < position + size; i++) value = value * 256 + bytes[i]!;
  return value;
}

/** Writes a big-endian integer of size bytes from the position on; size is at most 6. */
export function putUint(bytes: Uint8Array, position: number, size: number, value: number): void {
  let rest = value;
  for (let i = position + size - 1; i >= position; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}
