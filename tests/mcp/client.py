"""Drives `kb mcp` with the client of the official Python SDK and prints what it saw as JSON.

Usage: client.py KB. The server runs in the working directory, which has the skill tide-guide, and on
the sample documents.
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS = {
    "kb_info": {"document": 4},
    "kb_list": {},
    "kb_open": {"document": 4, "max_lines": 3},
    "kb_outline": {"document": 4},
    "kb_search": {"query": "frozen gauge", "budget": 300},
    "kb_show": {"document": 4, "section": "Winter"},
    "kb_similar": {"document": 4},
    "kb_status": {},
    "kb_tags": {},
    "skill_lint": {"skill": "tide-guide"},
    "skill_list": {},
    "skill_open": {"skill": "tide-guide", "path": "ferry.txt"},
    "skill_outline": {"skill": "tide-guide"},
    "skill_search": {"skill": "tide-guide", "query": "lamp"},
    "skill_show": {"skill": "tide-guide", "section": "Repair"},
    "skill_sources": {"skill": "tide-guide"},
    "skill_stats": {"skill": "tide-guide"},
}


def plain(result):
    """The result as it came over the wire, whatever the SDK calls its fields."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main(kb):
    report = {"called": [], "failed": []}
    server = StdioServerParameters(command=kb, args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = plain(await session.list_tools())["tools"]
        for name in sorted(it["name"] for it in tools):
            # The client holds the answer against the output schema.
            result = plain(await session.call_tool(name, CALLS[name]))
            envelope = result["structuredContent"]
            same = json.loads(result["content"][0]["text"]) == envelope
            if result.get("isError") or not envelope["ok"] or not same:
                report["failed"].append([name, envelope])
            report["called"].append(name)
        results = await asyncio.gather(
            *(session.call_tool("kb_search", {"query": f"gauge {it}"}) for it in range(20))
        )
        report["concurrent"] = sum(plain(it)["structuredContent"]["ok"] for it in results)
        report["resources"] = len(plain(await session.list_resources())["resources"])
        wrong = plain(await session.call_tool("kb_search", {"top": "many"}))
        report["wrong_input"] = wrong["structuredContent"]["error"]["code"]
        try:
            await session.call_tool("no_such_tool", {})
            report["unknown_tool"] = False
        except Exception as error:  # the SDK's own class differs between versions
            report["unknown_tool"] = "unknown tool" in str(error)
    print(json.dumps(report))


asyncio.run(main(sys.argv[1]))
