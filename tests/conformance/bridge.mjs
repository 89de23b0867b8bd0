// Serves a server that speaks over stdin and stdout to clients that speak over HTTP, for the official conformance
// suite. Usage: node bridge.mjs KB; prints the address and serves until it is killed.
//
// Each `initialize` starts a server of its own, which its session header names. Messages without a session, those
// of protocols that have none, share one. Ids are replaced on the way, because clients may use the same ones.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import http from "node:http";
import readline from "node:readline";

const SESSION = "mcp-session-id";
const servers = new Map();

function start() {
  const child = spawn(process.argv[2], ["mcp", "--tools=all"], { stdio: ["pipe", "pipe", "inherit"] });
  const server = { child, waiting: new Map(), nextId: 1 };
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    const answer = server.waiting.get(message.id);
    if (!answer || "method" in message) return;
    server.waiting.delete(message.id);
    answer(message);
  });
  return server;
}

function shared() {
  if (!servers.has("")) servers.set("", start());
  return servers.get("");
}

function ask(server, message) {
  const id = server.nextId++;
  const answered = new Promise((answer) => server.waiting.set(id, answer));
  server.child.stdin.write(JSON.stringify({ ...message, id }) + "\n");
  return answered.then((answer) => ({ ...answer, id: message.id }));
}

function respond(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

async function post(request, response) {
  let text = "";
  for await (const part of request) text += part;
  const message = JSON.parse(text);
  const headers = {};
  let server = servers.get(request.headers[SESSION] ?? "");
  if (message.method === "initialize") {
    server = start();
    headers[SESSION] = randomUUID();
    servers.set(headers[SESSION], server);
  } else if (!request.headers[SESSION]) {
    server = shared();
  }
  if (!server) return respond(response, 404);
  if (message.id === undefined || !("method" in message)) {
    server.child.stdin.write(JSON.stringify(message) + "\n");
    return respond(response, 202);
  }
  respond(response, 200, await ask(server, message), headers);
}

function end(request, response) {
  const session = request.headers[SESSION];
  const server = servers.get(session);
  if (!session || !server) return respond(response, 404);
  server.child.stdin.end();
  servers.delete(session);
  respond(response, 200);
}

const listener = http.createServer((request, response) => {
  if (request.method === "POST") post(request, response).catch((error) => respond(response, 500, { error: String(error) }));
  else if (request.method === "DELETE") end(request, response);
  else respond(response, 405);
});
listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
