"""Closes the input of `kb mcp` at random moments while a call is running. The server must end by itself, with status 0."""

import json
import subprocess
import time

from workers import in_parallel
from world import World, doctor, faults

# The tool, its arguments but for the folder of `kb_add`, and the longest wait before the end of input.
CALLS = [
    ("kb_add", None, 5),
    ("kb_search", {"query": "frozen tide gauge in the harbour"}, 0.1),
    ("kb_grep", {"pattern": "[a-z]+ harbour"}, 0.1),
    ("skill_list", {}, 0.1),
]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "faults", "version": "1"}}


# Servers that run at once: a thread that still computes when the process ends is more likely on busy processors.
SERVERS = 4


def endings(world, result, options, count):
    def try_all(part, place):
        home = World(world.kb, place / "world")
        data_dir = place / "served-db"
        home.ok(data_dir, "add", home.folder("served", 30, "served"))
        for number in range(part, count, SERVERS):
            rng = options.random(f"{options.seed}/endings/{number}")
            # Half of the calls add files.
            tool, arguments, longest = CALLS[0] if number // SERVERS % 2 else rng.choice(CALLS[1:])
            if arguments is None:
                # Files of new text that take longer to embed than any wait.
                arguments = {"paths": [str(home.folder("new", 2, f"new {number}", 1500))]}
            wait = rng.uniform(0, longest)
            result.count()
            status, printed = end(home, data_dir, tool, arguments, wait)
            if status != 0:
                result.fail(f"{number}: {tool}, {wait:.3f} s", "wrong", f"status {status}: {printed}")
        for fault in faults(data_dir) + doctor(home, data_dir):
            result.fail(f"server {part}", "unsound", fault)

    in_parallel(world.work, SERVERS, list(range(SERVERS)), try_all, result)


def end(world, data_dir, tool, arguments, wait):
    """Calls a search, then a tool, and closes the input after some seconds. Returns the status and stderr."""
    server = world.start(data_dir, "mcp", "--allow-write", "--tools=all", stdin=subprocess.PIPE)
    requests = [
        ("initialize", HELLO),
        ("tools/call", {"name": "kb_search", "arguments": {"query": "winter"}}),
        ("tools/call", {"name": tool, "arguments": arguments}),
    ]
    for number, (method, params) in enumerate(requests, 1):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        lines = [message] if number > 1 else [message, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        server.stdin.flush()
        while number < len(requests) and json.loads(server.stdout.readline()).get("id") != number:
            pass
    time.sleep(wait)
    _, printed = server.communicate(timeout=60)
    return server.returncode, printed.decode(errors="replace")
