"""The page of `holdfast web`: what there is to see of the workflows of a root, and what a person decides there.

Nothing outside of this package imports Starlette for it, whose import costs half a second.
"""
