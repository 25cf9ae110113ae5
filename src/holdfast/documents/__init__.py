"""The documents people and agents see: putting them in place, and judging what others did to them."""
