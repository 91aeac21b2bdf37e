// A server for tests: of one folder, with ranges, versions, a log of what was asked for, and downloads that are cut off.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types = { ".html": "text/html", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json", ".png": "image/png" };
export const isolated = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/**
 * {address, log, cut, close}: the log has {method, path, range, sent} of each answer; `cut` is a map of paths to bytes after which the connection
 * of each answer ends.
 */
export async function serve(folder, headers = {}) {
  const log = [],
    cut = new Map();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname).replace(/\/$/, "/index.html"),
      row = { method: request.method, path, range: request.headers.range, sent: 0 };
    log.push(row);
    let facts;
    try {
      if (path.includes("..")) throw new Error("a path that leads out");
      facts = statSync(join(folder, path));
    } catch {
      return response.writeHead(404, headers).end();
    }
    const etag = `"${facts.size}-${facts.mtimeMs}"`,
      isRange = request.headers.range && (!request.headers["if-range"] || request.headers["if-range"] === etag),
      from = isRange ? Number(/bytes=(\d+)-/.exec(request.headers.range)[1]) : 0;
    if (from >= facts.size && facts.size) return response.writeHead(416, headers).end();
    response.writeHead(isRange ? 206 : 200, {
      "Cache-Control": "no-cache",
      ...headers,
      "Content-Type": types[extname(path)] ?? "application/octet-stream",
      "Content-Length": facts.size - from,
      ETag: etag,
      ...(isRange && { "Content-Range": `bytes ${from}-${facts.size - 1}/${facts.size}` }),
    });
    if (request.method === "HEAD") return response.end();
    const most = cut.get(path) ?? Infinity,
      stream = createReadStream(join(folder, path), { start: from, highWaterMark: 1 << 16 });
    stream.on("data", (piece) => {
      const part = piece.subarray(0, Math.max(0, most - row.sent));
      row.sent += part.length;
      if (row.sent >= most) {
        stream.destroy();
        response.write(part, () => setTimeout(() => response.destroy(), 20));
      } else if (!response.write(part)) {
        stream.pause();
        response.once("drain", () => stream.resume());
      }
    });
    stream.on("end", () => response.end());
    response.on("close", () => stream.destroy());
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    address: `http://localhost:${server.address().port}/`,
    log,
    cut,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
