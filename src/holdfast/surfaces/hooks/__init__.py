"""Hooks of agent hosts: one event as JSON on standard input, the host's answer on standard output."""
