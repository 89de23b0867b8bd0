"""Converts every tool of `kb mcp` with the packages that other agents use, and fails if one is refused.

Usage: convert.py KB google|openai|langchain
"""

import asyncio
import copy
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def google(_session, tool):
    from google.genai._mcp_utils import mcp_to_gemini_tools

    assert mcp_to_gemini_tools([tool])[0].function_declarations[0].name == tool.name


def openai(_session, tool):
    from agents.strict_schema import ensure_strict_json_schema

    strict = ensure_strict_json_schema(copy.deepcopy(tool.inputSchema))
    assert set(strict.get("required", [])) == set(tool.inputSchema.get("properties", {}))


def langchain(session, tool):
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool

    assert convert_mcp_tool_to_langchain_tool(session, tool).name == tool.name


async def main(kb, package):
    server = StdioServerParameters(command=kb, args=["mcp", "--allow-write"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert tools
        for tool in tools:
            globals()[package](session, tool)
        print(f"{package}: {len(tools)} tools converted")


asyncio.run(main(*sys.argv[1:]))
