"""The HTTP edge: decode, one call, encode."""
