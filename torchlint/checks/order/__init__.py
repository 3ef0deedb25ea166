"""Orders that differ from run to run: listings, sets, results as they complete, hashes of text (TL401 to TL404)."""
