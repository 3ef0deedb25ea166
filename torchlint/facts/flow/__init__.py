"""Where a value goes: forward from an expression, through all that keeps it, hands it on or reads it again."""
