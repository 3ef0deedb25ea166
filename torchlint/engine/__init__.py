"""The engine: files in, judged and sorted diagnostics out."""
