"""The checks: LibCST visitors that decide what is a finding. One module per idea, found by name."""
