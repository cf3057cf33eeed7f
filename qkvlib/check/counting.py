"""The exercise `free_numbers`: parameters of a head and what of them is free, by hand."""

from fractions import Fraction

from .named import by_name

# A head with d = 8 and d_k = 4; and the missing corner of a form ((2, 3), (4, ?)) of rank one.
RIGHT = {"parameters": 64, "lost": 16, "free": 48, "free, rotary": 60, "corner": 6}

# Of which number, wrong value, name and hint.
MISTAKES = [
    ("parameters", 32, "one matrix counted", "Queries and keys have a matrix each."),
    ("parameters", 128, "four matrices counted", "The form has no part in values and outputs."),
    ("parameters", 16, "the matrix G counted", "Which shape has W_Q? How many numbers is that?"),
    ("lost", 4, "one number a column", "Need G be diagonal, for G and its inverse to cancel?"),
    ("lost", 64, "G as wide as the tokens", "G stands between the factors. Which shape fits?"),
    ("lost", 32, "both factors' G counted",
     "Once G is chosen for the queries, is there any choice left for the keys?"),
    ("free", 64, "nothing taken off", "Different factors may make one form. How many do?"),
    ("free", 16, "the rank squared",
     "A form of rank 4 is more than a 4 by 4 block: where does it lie?"),
    ("free, rotary", 48, "rotary positions forgotten",
     "Most G mix pairs that turn at different speeds. Do the scores survive that?"),
    ("free, rotary", 62, "one number a pair",
     "Turn a pair of the queries: turn the keys along. What else does a pair allow?"),
    ("free, rotary", 64, "nothing left under rotary positions",
     "Turn one pair of queries and keys alike, before the positions do. Do the scores see it?"),
    ("free, rotary", 56, "four numbers a pair",
     "Which 2 by 2 matrices commute with every turn? How many numbers do they have?"),
    ("corner", 5, "rows differ by a constant", "In rank one, rows are multiples of one another."),
    ("corner", Fraction(8, 3), "ratio turned round",
     "The second row is which multiple of the first?"),
    ("corner", 12, "product of the neighbours", "And by what has 3 · 4 to be divided?"),
]


def free_numbers(answers):
    """Check five numbers: those of a head with d = 8, d_k = 4, and a corner of a form.

    `answers`: a dictionary from the names in `RIGHT` to numbers, or fractions as text.
    Returns a `Result` that names the misconception when it knows it.
    """
    return by_name("free_numbers", answers, RIGHT, MISTAKES,
                   otherwise="Write the two factors out, and count.")
