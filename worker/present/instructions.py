"""Pure: how an agent uses the memory, by topic."""

_WORKFLOW = """# Three steps, so that only what matters is read in full

1. `search` for an index: ids, titles, times, and what each record would cost to read (up to about 50 tokens a row).
2. `timeline` around a promising id: what was asked, learned and concluded before and after it.
3. `get_observations` for the few ids that matter, all in one call (500-1000 tokens each).

Never fetch in full what the index has not shown to matter."""

_SEARCH_PARAMS = """# Parameters of search

- `query`: words, as you would say them; "in quotes" for a phrase, `-word` to leave one out.
- `type`: observations, sessions, prompts; or observation types (bugfix, feature, decision, ...).
- `concepts`, `files`, `project`: any of the values; a part of a path will do for files.
- `dateStart`, `dateEnd`: 2026-03-10, 2026-03-10T14:00, or milliseconds since 1970; a day is local and whole.
- `orderBy`: relevance, date_desc, date_asc. `limit` (20), `offset` (0)."""

_EXAMPLES = """# Examples

- What was decided on token expiry: `search(query="token expiry", obs_type="decision")`
- What happened on one day: `search(dateStart="2026-03-04", dateEnd="2026-03-04")`
- What is known of a file: `search(files="src/auth/session.py", orderBy="date_desc")`
- What led to #118: `timeline(anchor="118", depth_before=5, depth_after=2)`
- Three of them in full: `get_observations(ids=[118, 121, 130])`"""

TOPICS: dict[str, str] = {
    "workflow": _WORKFLOW,
    "search_params": _SEARCH_PARAMS,
    "examples": _EXAMPLES,
    "all": "\n\n".join((_WORKFLOW, _SEARCH_PARAMS, _EXAMPLES)),
}

OPERATIONS: dict[str, str] = {
    "search": f"{_SEARCH_PARAMS}\n\n`GET /api/search` answers with the index as text, or rows with `format=json`.",
    "context": "`GET /api/timeline?anchor=118` shows what surrounds a record: `depth_before` and `depth_after` records "
    "(10 each) of every kind, oldest first.",
    "summarize": "What a session came to is recorded at its end, by itself. `GET /api/summaries` lists it, "
    "`GET /api/session/14` has one in full.",
    "import": "`POST /api/import` takes `sessions`, `summaries`, `observations`, `prompts`: rows with the columns of "
    "the database. All come in or none does; what is there already is skipped.",
    "export": "`claude-mem export` writes every record to a file that `claude-mem import` reads.",
}
