"""Theorems, exercises, equations, tables: on every page each kind counts from 1.

Sphinx counts on through the book, or puts the number of a chapter first. Chapters bear names here,
and one that is added or moved should not rename what stands in the others.
"""


def count_anew(app, env) -> list[str]:
    """Number each kind on each page from 1, in Sphinx's order."""
    for kinds in env.toc_fignumbers.values():
        for numbers in kinds.values():
            numbers.update({anchor: (count,) for count, anchor in enumerate(numbers, 1)})
    return []  # whatever page has other numbers now, Sphinx has already seen


def setup(app) -> dict:
    # After Sphinx has counted, at the same event.
    app.connect("env-get-updated", count_anew, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
