// Measures bundles of the package, minified by esbuild and compressed by gzip.

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("..", import.meta.url));

const all = (path) => `export * from "@firn-id/firn${path}";`;
const some = (names, path) => `export { ${names} } from "@firn-id/firn${path}";`;

/** The bundles in the order of the table in README.md: name, code, budget in bytes after gzip. */
export const bundles = [
  ["the whole package", all(""), 10200],
  ["nanoflake", all("/nanoflake"), 3350],
  ["nanoflake: parse alone", some("parse", "/nanoflake"), 1400],
  ["ulidflake", all("/ulidflake"), 5000],
  ["ulidflake-scalable", all("/ulidflake-scalable"), 3500],
  ["snowflakesi", all("/snowflakesi"), 4800],
  ["scru160", all("/scru160"), 4600],
  ["scru160: Generator alone", some("Generator", "/scru160"), 2800],
  ["sno", all("/sno"), 3050],
];

/** Bundles code, and returns the bytes minified and compressed, and the files of dist with code in the bundle. */
export async function measure(code) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    metafile: true,
    write: false,
  });
  const { contents } = outputFiles[0];
  const inputs = Object.values(metafile.outputs)[0].inputs;
  const files = Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0 && file.startsWith("dist/"));
  return { minified: contents.length, gzip: gzipSync(contents, { level: 9 }).length, files };
}
