"""Torch's switches and the environment variables that go with them (TL203 to TL211, TL213)."""
