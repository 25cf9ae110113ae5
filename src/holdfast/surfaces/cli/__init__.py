"""The command line: translates what is typed into commands, and what comes of them into lines, JSON and exit codes.

A command costs one start of the interpreter, so only what the typed command needs is imported and built.
"""
