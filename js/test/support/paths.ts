import { fileURLToPath } from "node:url";

/** Returns a path in the package's folder. Tests run from the folder build. */
export function inPackage(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** Returns a path in the repository. */
export function inRepository(path: string): string {
  return inPackage(`../${path}`);
}

/** Says what a test misses on a machine: the test is skipped, or fails if FIRN_REQUIRE_SERVICES is 1. */
export function missing(what: string): string {
  if (process.env.FIRN_REQUIRE_SERVICES === "1") throw new Error(`${what}, and FIRN_REQUIRE_SERVICES is 1`);
  return what;
}
