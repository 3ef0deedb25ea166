"""Options of the command line and of dataclasses, and whether anything reads them."""
