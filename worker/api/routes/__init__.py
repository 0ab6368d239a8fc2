"""One module for each topic of the contract."""
