"""One module for each topic of the contract; each has a ``routes(services)``."""
