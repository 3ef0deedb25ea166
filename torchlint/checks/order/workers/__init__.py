"""Results that several workers hand back."""
