"""Step 3: SQLite, the source of truth. All SQL is here."""
