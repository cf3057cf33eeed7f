"""Figures that the reader moves: drawn beforehand for the page, or live in a kernel.

Both calls take the same drawing function, `draw(**values)`, which returns a `figures.Figure`.
"""

import gzip
import inspect
import math
from copy import deepcopy
from html import escape
from itertools import product
from numbers import Integral, Real

from .figures import Figure
from .sliders import sliders_html

FRAMES, GZIPPED = 100, 40_000  # what an explorer may hold, and weigh in bytes


class Explorer:
    """What `explore` returns: `parameters` maps names to values, `figures` are all the frames."""

    def __init__(self, parameters, figures, html):
        self.parameters, self.figures, self._html = parameters, figures, html

    def __repr__(self):
        counts = (f"{name} ({len(values)} values)" for name, values in self.parameters.items())
        return "Explorer: " + " × ".join(counts)

    def _repr_html_(self):
        return self._html


def explore(draw, /, *, labels=None, start=None, **parameters):
    """Return a figure whose reader moves one to three parameters, every frame drawn beforehand.

    Each parameter is the list of its values: numbers make a slider, anything else a menu. `labels`
    maps names to what is written beside the control, `start` to the value that is shown first.
    Frames run as nested loops do, the last parameter fastest. Raises TypeError if `draw` takes
    other names or returns anything but a Figure; ValueError for another number of parameters, for
    values that are missing or look alike, for what `labels` and `start` name in vain, and beyond
    100 frames or 40 kB gzipped.
    """
    parameters = {name: _choices(name, values) for name, values in parameters.items()}
    _check(draw, parameters, labels=labels, start=start)
    labels, start = labels or {}, start or {}
    controls = []
    for name, values in parameters.items():
        texts = _texts(name, values)
        wanted = _text(start.get(name, values[0]))
        if wanted not in texts:
            raise ValueError(f"{name} starts at {wanted}, which is none of its values "
                             f"({', '.join(texts)}): choose one of them")
        menu = not all(map(_is_number, values))
        controls.append((labels.get(name, name), texts, texts.index(wanted), menu))
    sizes = [len(values) for values in parameters.values()]
    if math.prod(sizes) > FRAMES:
        raise ValueError(f"{' × '.join(map(str, sizes))} = {math.prod(sizes)} frames, and an "
                         f"explorer holds at most {FRAMES}: give fewer values, or make two")
    # Copies, since draw may change and return one and the same Figure.
    figures = [deepcopy(_drawn(draw, dict(zip(parameters, values, strict=True))))
               for values in product(*parameters.values())]
    html = sliders_html(controls, [figure._repr_html_() for figure in figures])
    size = len(gzip.compress(html.encode(), mtime=0))
    if size > GZIPPED:
        raise ValueError(f"{len(figures)} frames weigh {size / 1000:.1f} kB gzipped, and an "
                         f"explorer weighs at most {GZIPPED // 1000} kB: give fewer values, cells "
                         "or digits")
    return Explorer(parameters, figures, html)


def live(draw, /, *, labels=None, **ranges):
    """Return live controls and the picture they move, for a kernel with ipywidgets.

    Each range is `(low, high)` or `(low, high, step)`, of whole numbers or of floats, or a list of
    choices. Raises as `explore` does, ValueError for what is no range, and ImportError where
    ipywidgets is missing.
    """
    try:
        import ipywidgets as widgets
    except ImportError as error:
        raise ImportError("live controls need ipywidgets: run `pip install ipywidgets`, then "
                          "restart the kernel and reload the page") from error
    _check(draw, ranges, labels=labels)
    controls = {}
    for name, values in ranges.items():
        if isinstance(values, tuple):
            kind, options = widgets.FloatSlider, _range(name, values)
            if all(isinstance(value, Integral) for value in options.values()):
                kind = widgets.IntSlider
        else:
            values = _choices(name, values)
            pairs = zip(_texts(name, values), values, strict=True)
            kind, options = widgets.Dropdown, {"options": list(pairs)}
        options["description"] = (labels or {}).get(name, name)
        controls[name] = kind(style={"description_width": "initial"}, **options)
    picture = widgets.HTML()

    def redraw(_=None):
        try:
            values = {name: control.value for name, control in controls.items()}
            picture.value = _drawn(draw, values)._repr_html_()
        except Exception as error:
            # A kernel swallows what a control raises, and a picture that stayed would be wrong.
            picture.value = f"<pre>{escape(repr(error))}</pre>"
            raise

    for control in controls.values():
        control.observe(redraw, "value")
    redraw()
    return widgets.VBox([*controls.values(), picture])


def _check(draw, parameters, **named):
    if not 1 <= len(parameters) <= 3:
        raise ValueError(f"got {len(parameters)} parameters, wanted one, two or three: give each "
                         "by its name with its values, such as b_K=[0, 1, 2]")
    for what, names in named.items():
        if unknown := [name for name in names or () if name not in parameters]:
            raise ValueError(f"{what} speaks of {unknown}, and the parameters are "
                             f"{list(parameters)}: use their names")
    try:
        inspect.signature(draw).bind(**parameters)
    except TypeError as error:
        raise TypeError(f"draw cannot be called with {', '.join(parameters)} ({error}): give the "
                        "parameters the names that draw has") from None


def _choices(name, values):
    single = not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0
    if isinstance(values, str) or single:
        raise ValueError(f"{name} is {values!r}: give a list of values, even of one")
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    if not values:
        raise ValueError(f"{name} has no values: give at least one")
    return values


def _range(name, values):
    if (len(values) not in (2, 3) or not all(_is_number(v) and math.isfinite(v) for v in values)
            or not values[0] < values[1] or not all(step > 0 for step in values[2:])):
        raise ValueError(f"{name} is {values}: give (low, high) or (low, high, step), all finite, "
                         "with low < high and step > 0, or a list of choices")
    low, high, *step = values
    whole = isinstance(low, Integral) and isinstance(high, Integral)
    step = step[0] if step else 1 if whole else (high - low) / 100
    return {"value": low, "min": low, "max": high, "step": step}


def _texts(name, values):
    texts = [_text(value) for value in values]
    if len(set(texts)) < len(texts):
        raise ValueError(f"{name} has values that look alike ({', '.join(texts)}): give values "
                         "that differ within six digits")
    return texts


def _text(value):
    return f"{value + 0.0:g}".replace("-", "−") if _is_number(value) else str(value)


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _drawn(draw, values):
    figure = draw(**values)
    if not isinstance(figure, Figure):
        call = ", ".join(f"{name}={_text(value)}" for name, value in values.items())
        raise TypeError(f"draw({call}) returned {type(figure).__name__}, wanted a Figure: return "
                        "what figures.heatmap, figures.bars or figures.panels gives")
    return figure
