// server.mjs - a model behind HTTP: many requests at once, and one that is given up stops its run.
// usage: node server.mjs MODEL [PORT]; then POST the 64 numbers of an image as JSON
import { createServer } from "node:http";
import { HologramError, open } from "hologram";

const [path, port = "0"] = process.argv.slice(2);
const model = await open(path, { threads: 1 }); // runs of several requests share the cores: one thread each

async function answer(request, response) {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  let text = "";
  for await (const part of request) text += part;
  const { probabilities } = await model.run({ image: JSON.parse(text) }, { signal: controller.signal, timeLimit: 1 });
  response.end(JSON.stringify(probabilities.toArray()));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    const isTheirs = error instanceof SyntaxError || (error instanceof HologramError && error.code === "BAD_INPUT");
    response.writeHead(isTheirs ? 400 : 500).end(JSON.stringify({ error: error.message }));
  });
});
server.listen(Number(port), () => console.log(`listening on ${server.address().port}`));
process.on("SIGTERM", () => server.close(() => model.close()));
