"""Results that cross devices, and clocks beside them (TL501, TL502, TL602, TL607)."""
