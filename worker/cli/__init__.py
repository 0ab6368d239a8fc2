"""Front end three: the command line."""
