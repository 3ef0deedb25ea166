"""Workers, samplers and pinned memory of data loaders (TL306 to TL308, TL405, TL606)."""
