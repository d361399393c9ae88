// Shows that the checks can fail: each mutant of the package has one fault, and the checks must find the fault.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import type { Plugin } from "esbuild";
import type { Data } from "./checks/all.js";
import type { Result } from "./checks/harness.js";
import { bundleChecks } from "./support/bundle.js";
import { vectors } from "./support/data.js";

/** A file of dist, code that the file has once, and the code of the mutant. */
type Mutant = readonly [file: string, from: string, to: string];

const MUTANTS: readonly Mutant[] = [
  // Codecs.
  ["nanoflake", "if (id > MAX)", "if (id >= MAX)"],
  ["nanoflake", "if (id > MAX)", "if (false)"],
  ["nanoflake", "const POW6 = 2176782336n", "const POW6 = 2176782337n"],
  ["nanoflake", "low >> NANOFLAKE_SEQUENCE_BITS", "low >> 11"],
  [
    "nanoflake",
    "check(FORMAT, DIGITS, text, LENGTH, LENGTH, wantLength)",
    "check(FORMAT, DIGITS, text, 12, LENGTH, wantLength)",
  ],
  ["nanoflake", "text : text.toLowerCase()", "text : text"],
  ["nanoflake", "return digits.length > 1 &&", "return digits.length > 2 &&"],
  ["shapes", 'ULIDFLAKE_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"', 'ULIDFLAKE_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTVWXY"'],
  ["ulid", "if (id > MAX_TEXT)", "if (false)"],
  ["ulid", "const STAMP = 9", "const STAMP = 8"],
  ["shapes", "ULIDFLAKE_EPOCH = 1704067200000", "ULIDFLAKE_EPOCH = 1704067200001"],
  ["ulid", "digits.length === LENGTH &&", "false &&"],
  ["ulidflake-scalable", "below & MAX_SCALABILITY", "below & 15"],
  ["snowflakesi", "value < 0 || value > MAX)", "value < 0 || value > MAX + 1)"],
  ["snowflakesi", "above % machines", "above % sequences"],
  ["snowflakesi", "ms > epochsAfter(layout)", "ms >= epochsAfter(layout)"],
  ["shapes", "SNOWFLAKESI_LENGTH = 16", "SNOWFLAKESI_LENGTH = 17"],
  ["scru160", "SCRU160_DIGITS, true", "SCRU160_DIGITS, false"],
  ["scru160", "counter: uintAt(bytes, 6, 2)", "counter: uintAt(bytes, 7, 2)"],
  ["scru160", "byteLength(text) === 2 * SIZE", "false"],
  ["scru160", "0, 1, MAX_TIMESTAMP - 1)", "0, 0, MAX_TIMESTAMP)"],
  ["sno", "SNO_DIGITS, false", "SNO_DIGITS, true"],
  ["sno", "tick_tock: stamp % 2", "tick_tock: 0"],
  ["shapes", "SNO_UNIT = 4", "SNO_UNIT = 5"],
  ["int64", "value > MAX_INT64", "value > MAX_INT64 + 1n"],
  ["int64", "padStart(16", "padStart(15"],
  ["int64", "Math.abs(value) > Number.MAX_SAFE_INTEGER", "false"],
  ["bytes", "bytes.length !== size", "bytes.length < size"],
  ["bytes", "& 0xfff;\n        bits += 5", "& 0x7f;\n        bits += 5"],
  ["text", "code < 128 ?", "code < 129 ?"],
  ["text", "length < least ||", "false ||"],
  ["text", "if (code >= 0x80)", "if (code >= 0x8000)"],
  ["time", "Math.min(Math.max(", "Math.min(Math.min("],
  // Arguments.
  ["nanoflake", "const text = parse(id);", "const text = id;"],
  ["ulid", "const text = parseUlid(format, id);", "const text = id;"],
  ["scru160", "bytesOf32(BASE32HEX, parse(id))", "bytesOf32(BASE32HEX, id)"],
  ["sno", "bytesOf32(DIGITS, parse(id))", "bytesOf32(DIGITS, id)"],
  ["snowflakesi", "BigInt(fromNumber(id))", "BigInt(id)"],
  ["snowflakesi", "String(fromNumber(id))", "String(id)"],
  ["snowflakesi", "const value = fromNumber(id);", "const value = id;"],
  ["id", "[read(a), read(b)]", "[a, b]"],
  ["id", "const value = read(id);", "const value = id;"],
  ["sno", "parse(id) === ZERO", "id === ZERO"],
  ["bytes", 'Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag, bytes) !== "Uint8Array"', "false"],
  ["settings", 'Object.prototype.toString.call(settings) !== "[object Object]"', "false"],
  ["settings", "if (!known.includes(key))", "if (false)"],
  ["time", "Date.prototype.getTime.call(time)", "Number(time)"],
  ["time", "ms <= LAST_EPOCH", "ms <= HORIZON"],
  ["inspect", 'if (typeof input !== "string")', "if (false)"],
  ["nanoflake", "export function isZero(", "export const added = (id) => id;\nexport function isZero("],
  // Inspection.
  ["inspect", "future(a) - future(b) ||", ""],
  ["inspect", "padStart(16", "padStart(17"],
  ["inspect", "(isRange(fault) && !isRange(first))", "false"],
  ["inspect", "guess === GUESSES[0] && isRange(fault)", "false"],
  ["inspect", "year <= 9999", "year < 9999"],
  ["errors", "/\\.?0+Z$/", "/\\.0+Z$/"],
  // Generators.
  ["mint", "const sequence = this.#sequence + step();", "const sequence = this.#sequence;"],
  ["mint", "if (sequence >= limit)", "if (sequence > limit)"],
  ["mint", "behind < 0 ||", "behind !== 0 ||"],
  ["mint", "behind > 0 && !(hold", "false && !(hold"],
  ["mint", "hold && behind <= this.#maxBackward", "hold"],
  ["mint", "rewind && behind > this.#maxBackward", "false"],
  ["mint", "this.#tick = timestamp;", "this.#tick = timestamp - 1;"],
  ["mint", "timestamp >= 1 &&", "timestamp >= 0 &&"],
  ["mint", "timestamp <= last", "timestamp <= last + 1"],
  ["mint", "this.#line.length > 0 ? this.#besideLine() : this.#advance()", "this.#advance()"],
  ["mint", "if (signal?.aborted)", "if (false)"],
  ["mint", "this.#line.splice(this.#line.indexOf(waiter), 1);", ""],
  ["mint", "fault.by <= this.#maxBackward", "fault.by < this.#maxBackward"],
  ["mint", "this.#line.shift()", "this.#line.pop()"],
  ["mint", "watches.set(signal, watched);", ""],
  ["mint", "waiters.size > 0", "false"],
  ["mint", "watches.delete(signal);", ""],
  ["mint", 'signal.removeEventListener("abort", listener);', ""],
  ["mint", "clock = () => Date.now()", "clock = Date.now"],
  ["mint", 'if (typeof now === "number")', "if (true)"],
  ["mint", 'typeof maxBackward !== "number" ||', ""],
  ["mint", "return fault ?? new", "return new"],
  ["random", "random32() >>> (32 - bits)", "random32() >>> (33 - bits)"],
  ["random", "if (step > 0)", "if (step >= 0)"],
  ["snowflakesi", "before + 1 < counts.sequences / 2", "before + 1 <= counts.sequences / 2"],
  ["snowflakesi", "before + 1 < counts.sequences / 2", "before + 1 < counts.sequences"],
  ["snowflakesi", "? (before) =>", "? () => 0 : false ? (before) =>"],
  ["ulidflake", "start: () => randomBits(ULIDFLAKE_RANDOMNESS_BITS)", "start: () => 0"],
  ["ulidflake", "bits > 1 ?", "bits > 30 ?"],
  ["ulidflake", "DEFAULT_INCREMENT_BITS : given", "1 : given"],
  ["ulidflake", "DEFAULT_INCREMENT_BITS = 8", "DEFAULT_INCREMENT_BITS = 9"],
  ["scru160", "width - 1, width - 1)", "width, width)"],
  ["scru160", "counter * unit + node", "counter * unit"],
  ["scru160", "randomBits(noiseBits)", "0"],
  ["scru160", "putUint(bytes, 14, 4, random32());", ""],
  ["scru160", "last: MAX_TIMESTAMP - 1", "last: MAX_TIMESTAMP"],
];

/** Returns an esbuild plugin that makes the mutant. */
function mutate([file, from, to]: Mutant): Plugin {
  return {
    name: "mutant",
    setup(build): void {
      build.onLoad({ filter: new RegExp(`/dist/${file}\\.js$`) }, ({ path }) => {
        const source = readFileSync(path, "utf8");
        assert.equal(source.split(from).length, 2, `${file} has ${JSON.stringify(from)} once`);
        return { contents: source.replace(from, () => to) };
      });
    },
  };
}

/** The code that runs the checks of a bundle in a worker. */
const IN_WORKER = `
import { parentPort, workerData } from "node:worker_threads";
parentPort.postMessage(await run(workerData));
`;

/** Runs the checks in a worker: a mutant may leave timers behind, which end with the worker. */
async function runBundle(plugins: Plugin[], data: Data): Promise<Result[]> {
  const code = (await bundleChecks(plugins)) + IN_WORKER;
  const worker = new Worker(new URL(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`), {
    workerData: data,
  });
  try {
    const [results] = (await once(worker, "message")) as [Result[]];
    return results;
  } finally {
    await worker.terminate();
  }
}

/** The names of the checks that found a fault. */
const finders = (results: readonly Result[]): string[] =>
  results.filter(({ fault }) => fault !== undefined).map(({ name }) => name);

describe("mutants", () => {
  let data: Data;

  before(() => {
    const all = vectors();
    const small = Object.entries(all.rejects).map(([name, list]) => [name, list.filter(({ repeat }) => repeat === undefined)]);
    data = {
      vectors: { ...all, rejects: Object.fromEntries(small) as typeof all.rejects },
      lines: [],
      soak: 5_000,
      patience: 60_000,
    };
  });

  test("the package itself passes", async () => {
    assert.deepEqual(finders(await runBundle([], data)), []);
  });

  for (const mutant of MUTANTS) {
    test(`${mutant[0]}: ${mutant[1].trim()} → ${mutant[2].trim()}`, async (t) => {
      const found = finders(await runBundle([mutate(mutant)], { ...data, patience: 2_000, hasty: true }));
      assert.notDeepEqual(found, [], "the checks find the mutant");
      t.diagnostic(`found by ${found.join(", ")}`);
    });
  }
});
