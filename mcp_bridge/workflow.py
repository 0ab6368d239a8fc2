"""Pure: the three steps of reading memory, as text for agents."""

INSTRUCTIONS = """\
Memory of earlier sessions, in three steps; each filters before the next costs tokens:
1. search(query) gives an index with ids (up to ~50 tokens a row).
2. timeline(anchor=id) shows what happened around a row.
3. get_observations(ids=[...]) gives the full text (~500-1000 tokens each), for chosen ids only.
Never fetch full text without filtering first."""

WORKFLOW = """\
# Memory search: three steps

Always go from cheap to dear. Never fetch full text before you have filtered.

1. **search** - the index: ids, times, titles and the tokens each record costs to read (up to about 50 tokens a row).
   `search(query="token expiry", limit=20, project="my-project")`
2. **timeline** - what happened around a row (about 100-200 tokens a row).
   `timeline(anchor=118, depth_before=3, depth_after=3)`, or `timeline(query="token expiry")` for the best hit
3. **get_observations** - the full text (about 500-1,000 tokens a record), only for the ids you chose.
   `get_observations(ids=[118, 121])`; several ids in one call

Ids: `118` is an observation, `S14` a session summary, `P40` a user prompt. get_observations reads observations; \
read `S14` and `P40` in the timeline: `timeline(anchor="S14")`.

Narrow a search by `project`, `type`, `dateStart`, `dateEnd`, `files` or `concepts` before you raise `limit`; \
read on with `offset`. Fetching 20 records in full to use 2 of them costs about ten times as much as filtering first.
"""
