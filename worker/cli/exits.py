"""Exit codes of the command line: what a script may rely on."""

FOUND = 0
NOTHING = 1
USAGE = 2
UNAVAILABLE = 3
UNWRITABLE = 74
INTERRUPTED = 130
READER_GONE = 141

TOLD = """\
exit codes:
  0  found, or done
  1  nothing found; `worker status`: not running
  2  bad usage or an invalid value
  3  the worker is not available or cannot do it, its disk is full for instance, or another program holds its port
  74 the output cannot be written
  130 interrupted, 141 the reader of the output went away
"""
