"""Models that are asked, behind one small protocol.

In: a prompt. Out: an answer with what it cost in tokens, or a failure of a known kind. May import ``contract`` only.
A provider is a module that ``registry`` names; it is imported when it is first used.
"""
