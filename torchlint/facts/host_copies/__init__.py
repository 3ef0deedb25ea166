"""Copies to the host that go on while Python runs ahead, and what reads them."""
