"""Delivering a feature: through the reviews on its pull request, into the central docs, and back after a loss."""
