"""The MCP server: the tools, documents and questions of every workflow of a root, for any host that speaks MCP.

Nothing outside this room imports the SDK, whose import costs a second.
"""
