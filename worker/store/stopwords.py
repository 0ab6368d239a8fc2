"""Pure: the words that tell one record from another least, the same for questions and for what is kept of records."""

_COMMON_TEXT = """
a about all also am an and any are aren arent as at be because been being both but by can cannot cant could
couldn couldnt did didn didnt do does doesn doesnt doing don dont down each few for from further get gets got
had hadn hadnt has hasn hasnt have haven havent having he her here hers herself him himself his how i if in into
is isn isnt it its itself just let like ll may me might must my myself need now of off on once or other our ours
ourselves out own please re s shall she should shouldn shouldnt show so some such t tell than that thats the
their theirs them themselves then there these they this those through to too up us use used using ve very via
want was wasn wasnt we were weren werent what whats when where which while who whom why will with won wont would
wouldn wouldnt you your yours yourself yourselves
"""
_COMMON = frozenset(_COMMON_TEXT.split())
"""Words that tell one record from another so seldom that they cost more than they find.

Kept on purpose, as they do tell: no, not, before, after, over, under, again, same, more, most, only, until, …"""


def is_common(word: str) -> bool:
    """Whether a search word is one of those that tell little."""
    return word in _COMMON
