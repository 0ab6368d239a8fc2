"""Live events to whoever listens."""
