// Runs the same checks in Node and in Chromium.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type FormatName, inspect, scru160, snowflakesi, ulidflake } from "@firn-id/firn";
import type { Data } from "./checks/all.js";
import { run } from "./checks/all.js";
import type { Result } from "./checks/harness.js";
import { chromiumPath, runPage } from "./support/browser.js";
import { bundleChecks } from "./support/bundle.js";
import { buildFirn, goLines, inspectWithGo, vectors } from "./support/data.js";
import { missing } from "./support/paths.js";

const SOAK = 1_000_000;
const LINES = 20_000; // of each of six formats

describe("checks", () => {
  let data: Data;
  let inNode: Result[];
  const firn = buildFirn();

  before(() => {
    if (firn === undefined) console.log(missing("no command go: no comparison with the command firn"));
    data = { vectors: vectors(), lines: firn === undefined ? [] : goLines(firn.path, LINES), soak: SOAK, patience: 60_000 };
  });

  test("Node", async (t) => {
    inNode = await run(data);
    await report(t.test.bind(t), inNode);
    t.diagnostic(summary("Node", inNode));
  });

  test("Chromium", async (t) => {
    const path = chromiumPath();
    if (path === undefined) return t.skip(missing("no Chromium at /usr/bin/chromium or $FIRN_CHROMIUM"));
    const checks = await bundleChecks();
    const files: Record<string, string> = {
      "/index.html": `<!doctype html><script type="module">
        import { run } from "/checks.js";
        window.result = fetch("/data.json").then((response) => response.json()).then(run);
      </script>`,
      "/checks.js": checks,
      "/data.json": JSON.stringify(data),
    };
    const results = (await runPage(path, (file) => files[file])) as Result[];
    await report(t.test.bind(t), results);
    assert.deepEqual(counts(results), counts(inNode), "Chromium and Node compare the same");
    t.diagnostic(summary("Chromium", results));
  });

  test("Go reads what generators make", async (t) => {
    if (firn === undefined) return t.skip("no command go");
    // next waits where a millisecond has no more IDs. The first randomness of a Ulid-Flake may be near the last.
    const take = async <ID>(generator: { next(): Promise<ID> }): Promise<string[]> => {
      const ids: string[] = [];
      while (ids.length < 200) ids.push(String(await generator.next()));
      return ids;
    };
    const made: [FormatName, string[]][] = [
      ["scru160", await take(new scru160.Generator())],
      ["snowflakesi", await take(new snowflakesi.Generator({ machineId: 31 }))],
      ["ulidflake", await take(new ulidflake.Generator({ epoch: Date.now() - 1000 }))],
    ];
    for (const [format, ids] of made) {
      for (const [, , id, line] of inspectWithGo(firn.path, format, "text", ids))
        assert.equal(line, JSON.stringify(inspect(format, id)));
    }
  });

  after(() => {
    firn?.remove();
    if (data.lines.length > 0) assert.ok(data.lines.length >= 100_000);
  });
});

type Subtest = (name: string, run: () => void) => Promise<void>;

async function report(subtest: Subtest, results: readonly Result[]): Promise<void> {
  for (const { name, fault } of results) await subtest(name, () => assert.equal(fault, undefined));
}

function counts(results: readonly Result[]): string[] {
  return results.map(({ name, count }) => `${name}: ${count}`);
}

function summary(where: string, results: readonly Result[]): string {
  return `${where}: ${results.length} checks, ${results.reduce((sum, { count }) => sum + count, 0)} comparisons`;
}
