"""The HTTP edge: decode, one call, encode.

In: requests, in the original's paths, parameters and shapes. Out: answers, and errors as JSON from one table.
May import: everything below it; nothing above knows HTTP.
"""
