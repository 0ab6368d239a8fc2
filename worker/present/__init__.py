"""Step 6: records as text that an agent reads."""
