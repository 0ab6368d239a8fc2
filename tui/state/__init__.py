"""View state: what is known and what is shown, plain and pure."""
