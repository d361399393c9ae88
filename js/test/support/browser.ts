// Chromium, with pages from a server on loopback.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** Returns the path of Chromium, or undefined. */
export function chromiumPath(): string | undefined {
  const path = process.env.FIRN_CHROMIUM || "/usr/bin/chromium";
  return existsSync(path) ? path : undefined;
}

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", json: "application/json" };

/**
 * Serves files, opens the page /index.html, and returns what the page's promise window.result becomes.
 * The function files returns the content of a path, or undefined.
 */
export async function runPage(executablePath: string, files: (path: string) => string | Buffer | undefined): Promise<unknown> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const content = files(path);
    const type = TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain";
    response.writeHead(content === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "firn-chromium-"));
  try {
    const context = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, timeout: 180_000 });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(0);
      const faults: string[] = [];
      page.on("pageerror", (fault) => faults.push(String(fault)));
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/index.html`);
      if (faults.length > 0) throw new Error(faults.join("\n"));
      return await page.evaluate("window.result");
    } finally {
      await context.close();
    }
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    server.closeAllConnections();
    server.close();
  }
}
