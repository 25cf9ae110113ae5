"""Putting Holdfast to work in agent hosts, and taking it out again: their settings are edited as text, and kept."""
