"""Drives `kb mcp` with the client of the official Python SDK and prints what it saw as JSON.

Usage: client.py KB READING WRITING. The last two are the arguments of each tool, as JSON. The working directory has the
skill tide-guide, built; the database contains the sample documents; the folder many, in the working directory, more
pages than are added in a moment.
"""

import asyncio
import contextlib
import json
import os
import sys
import time

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

def again(name):
    """Returns arguments for a first call that leave the second one something to do."""
    return {"name": "first-skill"} if name == "skill_init" else {}


def plain(result):
    """Returns the result as sent over the wire, with the protocol's field names."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@contextlib.asynccontextmanager
async def connected(kb, *flags):
    server = StdioServerParameters(command=kb, args=["mcp", *flags], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def call_all(session, calls, report):
    tools = plain(await session.list_tools())["tools"]
    report["listed"] = sorted(tool["name"] for tool in tools)
    for name, arguments in calls.items():
        # The client validates the answer against the output schema.
        compact = plain(await session.call_tool(name, {**arguments, **again(name)}))
        if compact.get("isError") or ("structuredContent" in compact) != (name == "skill_list"):
            report["failed"].append([name, compact])
        result = plain(await session.call_tool(name, {**arguments, "detail": "full"}))
        envelope = result["structuredContent"]
        same = json.loads(result["content"][0]["text"]) == envelope
        if result.get("isError") or not envelope["ok"] or not same:
            report["failed"].append([name, envelope])
        report["called"].append(name)


async def fail(session, report):
    wrong = plain(await session.call_tool("kb_search", {"top": "many"}))
    report["wrong_input"] = wrong["structuredContent"]["error"]["code"]
    try:
        await session.call_tool("no_such_tool", {})
        report["unknown_tool"] = False
    except Exception as error:  # the SDK's own class differs between versions
        report["unknown_tool"] = "unknown tool" in str(error)


async def count_documents(session):
    listed = plain(await session.call_tool("kb_list", {"detail": "full", "limit": 100}))
    return len(listed["structuredContent"]["data"])


async def cancel(session, report):
    """Cancels a call as soon as it reports progress; the next call of the tool then runs."""
    before = await count_documents(session)
    with anyio.CancelScope() as scope:

        async def told(done, total, message):
            scope.cancel()

        await session.call_tool("kb_add", {"paths": ["many"]}, progress_callback=told)
    await session.call_tool("kb_add", {"paths": ["nothing"]})
    report["added_before_cancel"] = await count_documents(session) - before


async def close_in_the_middle(kb, report):
    is_under_way = anyio.Event()

    async def told(done, total, message):
        is_under_way.set()

    async def add(session):
        with contextlib.suppress(Exception):  # the answer never comes
            await session.call_tool("kb_add", {"paths": ["many"]}, progress_callback=told)

    async with anyio.create_task_group() as group:
        async with connected(kb, "--allow-write") as session:
            group.start_soon(add, session)
            await is_under_way.wait()
            start = time.monotonic()
        report["closed_after_s"] = time.monotonic() - start
        group.cancel_scope.cancel()


async def main(kb, reading, writing):
    report = {"called": [], "failed": []}
    async with connected(kb) as session:
        await call_all(session, json.loads(reading), report)
        await fail(session, report)
        results = await asyncio.gather(
            *(session.call_tool("kb_search", {"query": f"gauge {n}", "detail": "full"}) for n in range(8)),
            *(session.call_tool("kb_list", {"detail": "full"}) for _ in range(8)),
        )
        report["concurrent"] = sum(plain(result)["structuredContent"]["ok"] for result in results)
        report["resources"] = len(plain(await session.list_resources())["resources"])
    async with connected(kb, "--allow-write") as session:
        await call_all(session, json.loads(writing), report)
        await cancel(session, report)
    await close_in_the_middle(kb, report)
    print(json.dumps(report))


asyncio.run(main(*sys.argv[1:]))
