"""The checks: functions that are shown nodes and decide what is a finding. Families of them, found by name.

What one check alone wants to know of a file stands beside it; what several ask is in `facts`.
"""
