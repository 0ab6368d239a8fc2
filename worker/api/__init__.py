"""The HTTP edge: decode, one call, encode.

In: requests, in the original's paths, parameters and shapes. Out: answers, and errors as JSON from one table.
A route and its description are one value (``endpoint``): the router and ``/openapi.json`` are made from the same table.
May import: everything below it; nothing above knows HTTP.
"""
