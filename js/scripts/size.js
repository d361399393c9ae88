// Prints the table of sizes in README.md.
import { bundles, measure } from "./sizes.js";

console.log("| bundle | minified | gzip |\n|---|--:|--:|");
for (const [name, code] of bundles) {
  const { minified, gzip } = await measure(code);
  console.log(`| ${name} | ${minified} | ${gzip} |`);
}
