"""The checks: functions that are shown nodes and decide what is a finding. One module per idea, found by name."""
