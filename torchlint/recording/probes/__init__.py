"""The probes: each runs a subject in its own way and answers for the findings that name it.

One module a probe, and in each the function `probe(context, finding)`, which returns an Answer. `drift`, `kernel_only`
and `sightings` hold parts of such answers.
"""
