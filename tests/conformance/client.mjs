// Drives `kb mcp` with the client of the official TypeScript SDK. Usage: node client.mjs KB; run in the folder
// with the installed packages. Fails if a call that needs no arguments fails.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.cwd() + "/"));
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const client = new Client({ name: "conformance", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], env: process.env, cwd: process.env.HOME }));
const { tools } = await client.listTools();
const { resources } = await client.listResources();
let called = 0;
for (const name of ["kb_list", "kb_status", "kb_tags", "skill_list"]) {
  const { isError } = await client.callTool({ name, arguments: {} });
  if (isError) throw new Error(name + " failed");
  called += 1;
}
for (const { uri } of resources) await client.readResource({ uri });
console.log(`TypeScript SDK: ${tools.length} tools, ${called} called, resources read: ${resources.length}`);
await client.close();
