"""Reports as lines of text: `formats` holds one module a format; the rest is what they share, audits and verdicts."""
