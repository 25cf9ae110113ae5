"""Pictures of workflows as SVG: the steps, and what happened when."""
