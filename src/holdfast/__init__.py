"""Durable workflow state for AI agents."""
