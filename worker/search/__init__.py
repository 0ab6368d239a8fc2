"""Step 5: a question to a ranking, a moment to a timeline."""
