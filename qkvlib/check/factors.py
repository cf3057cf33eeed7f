"""The exercise `bound_or_factors`: what a bound on the rank does, and what factors do alone."""

from .named import by_name

# Gradient −diag(4, 1) in each of ten steps of rate 0.1, from 0.01 I; factors start at 0.1 I each.
FREE, FACTORED = (0.01 + 4) / (0.01 + 1), (1.4 / 1.1) ** 20
RIGHT = {"free": FREE, "factors": FACTORED, "rank": 2, "A": "factors", "B": "bound",
         "C": "neither"}

# Of which question, wrong answer, name and hint.
MISTAKES = [
    ("free", 4, "start forgotten", "So are the steps. Where did they start from?"),
    ("free", 1.4 / 1.1, "one step taken, of a factor", "The free form has no factors: add up."),
    ("free", FACTORED, "free form moved like factors",
     "A step of the free form is the rate times the gradient, wherever it stands."),
    ("factors", FREE, "factors moved like the free form",
     "The gradient by one factor is multiplied by the other one, which is small."),
    ("factors", (1.4 / 1.1) ** 10, "one factor for the product", "The form is a product of two."),
    ("factors", (1.4 / 1.1) ** 2, "one step taken",
     "What is each factor multiplied by? How often?"),
    ("factors", 1.4 / 1.1, "one step of one factor", "Ten steps, and a product of two."),
    ("factors", (1.8 / 1.2) ** 10, "both factors' steps put into one",
     "Write one factor after one step, then multiply the two of them."),
    ("rank", 1, "small taken for zero", "The second entry has grown, if little. Is it zero?"),
    ("A", "bound", "a bound seen where there is none",
     "Which forms can two factors of shape (24, 24) not make?"),
    ("A", "both", "a bound seen where there is none",
     "Which forms can two factors of shape (24, 24) not make?"),
    ("A", "neither", "what the factors do overlooked",
     "It errs less than the free matrix, which can make the same forms. So what helps?"),
    ("B", "factors", "a large start forgotten",
     "Factors of full width lose their lead when they start large. Why does this one not?"),
    ("B", "both", "a large start forgotten",
     "Factors of full width lose their lead when they start large. Why does this one not?"),
    ("B", "neither", "the bound overlooked", "Which ranks can it have, from whatever start?"),
    ("C", "bound", "help against the truth",
     "Which rank has what is to be learned? Look at the second figure."),
    ("C", "factors", "help against the truth",
     "Which rank has what is to be learned? Look at the second figure."),
    ("C", "both", "help against the truth",
     "Which rank has what is to be learned? Look at the second figure."),
]


def bound_or_factors(answers):
    """Check three numbers of ten steps of descent, and what helps three students: A, B, C.

    `answers`: a dictionary from the names in `RIGHT`. The numbers: how many times as large as its
    second entry the first has become, of the free form and of the factors' product, within one in
    a hundred, and the rank of that product. Words: "bound", "factors", "both" or "neither".
    Returns a `Result` that names the misconception when it knows it.
    """
    return by_name("bound_or_factors", answers, RIGHT, MISTAKES, tolerance=0.005,
                   otherwise="Take the entries one by one: what does a step do to each? "
                             "The words are bound, factors, both and neither.")
