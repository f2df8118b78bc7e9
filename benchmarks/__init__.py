"""`make bench`: ratios, measured side by side in one run, since a machine's own speed says nothing.

BENCHMARKS ─► each interleaves what is measured with what it is measured against ─► one table (or --json)
"""
