"""Keeping a project in order: examining and repairing it, cleaning up, and taking over what others began."""
