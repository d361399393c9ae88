// Strong random bits, drawn from the platform in blocks.

declare const crypto: { getRandomValues(array: Uint32Array): Uint32Array };

const block: Uint32Array = /* @__PURE__ */ new Uint32Array(256);
let unused = 0;

/** Returns 32 random bits from crypto.getRandomValues. */
export function random32(): number {
  if (unused === 0) {
    crypto.getRandomValues(block);
    unused = block.length;
  }
  const word = block[--unused]!;
  block[unused] = 0; // a later dump of the memory has no bits of IDs
  return word;
}

/** Returns a random integer of so many bits, 0 to 32. */
export function randomBits(bits: number): number {
  return bits === 0 ? 0 : random32() >>> (32 - bits);
}

/** Returns a random integer of so many bits, at least 1. All other values are equally likely. */
export function randomStep(bits: number): number {
  for (;;) {
    const step = randomBits(bits);
    if (step > 0) return step;
  }
}
