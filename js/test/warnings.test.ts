// What Node says beside the results: a program with many waiters has no warnings.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { inPackage } from "./support/paths.js";

/** Fifty waiters of each of two generators on one signal, of which the last hundred are aborted. */
const PROGRAM = `
import { snowflakesi } from "@firn-id/firn";

let now = Date.UTC(2026, 6, 1);
const controller = new AbortController();
const make = (machineId) => new snowflakesi.Generator({ machineId, layout: { machineBits: 13 }, clock: () => now });
const generators = [make(1), make(2)];
for (const generator of generators) generator.tryNext();
const { signal } = controller;
const wait = () => generators.flatMap((generator) => Array.from({ length: 50 }, () => generator.next({ signal })));

const served = wait();
const clock = setInterval(() => now++, 1);
const ids = await Promise.all(served);
clearInterval(clock);
const aborted = wait();
controller.abort(new Error("enough"));
const results = await Promise.allSettled(aborted);
console.log(new Set(ids).size, results.filter(({ reason }) => reason?.message === "enough").length);
`;

describe("warnings", () => {
  test("a hundred waiters of one signal are no leak", () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
      cwd: inPackage("."),
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    assert.equal(stdout, "100 100\n");
  });
});
