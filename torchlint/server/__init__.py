"""The language server: what `torchlint check` says, in an editor, of text that is not saved yet.

A thin layer on `torchlint.api`: it knows what is open, asks for a check, and turns findings into the editor's terms.
"""
