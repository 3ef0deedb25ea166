"""Automatic fixes: from a finding and the facts of its file to edits of the source. A module a kind of edit."""
