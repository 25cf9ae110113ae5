"""Benchmarks. `python -m bench` prints every figure as a ratio measured in one interleaved run on one machine."""
