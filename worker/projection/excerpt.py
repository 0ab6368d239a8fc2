"""Pure: the part of a text that a model is given."""


def excerpt(text: str, most_chars: int) -> str:
    """The beginning of a text, from its first visible character on, as every tokenizer takes it.

    Half characters (lone surrogates) become U+FFFD and NUL a blank: the one is no UTF-8, and C code ends at the other.
    most_chars: in code points, so that a narrative of megabytes costs no more than a page.
    """
    begun = text.lstrip()[:most_chars]
    if not begun.isascii():
        begun = begun.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return begun.replace("\0", " ").strip()
