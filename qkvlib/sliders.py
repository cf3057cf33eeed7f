"""The HTML of a figure that moves with no kernel: controls, frames, and the script that swaps them.

All of it goes into one output, which so works on a static page, in a saved file and in a notebook.
Where scripts are off, and on paper, the first frame stands still beside the values it belongs to.
"""

import json
import re
from html import escape

from .pictures import html_text

# The same text for all explorers, so that a page can allow it by its hash. Each brings it along,
# and it wakes those that still sleep. Keys that move a slider must not reach JupyterLab or slides.
SCRIPT = """
for (const root of document.querySelectorAll('.explorer:not([data-ready])')) {
  const all = css => [...root.querySelectorAll(css)], controls = all('input,select'),
    outputs = all('output'), [view, spoken] = all('.explorer-view,.explorer-spoken'),
    {values, shared, frames} = JSON.parse(all('script')[0].textContent);
  let timer;
  root.dataset.ready = '';
  root.onkeydown = key => key.ctrlKey || key.metaKey || key.stopPropagation();
  root.oninput = () => {
    let frame = 0;
    controls.forEach((control, i) => {
      const text = outputs[i].value = values[i][control.value];
      frame = frame * values[i].length + +control.value;
      if (control.type == 'range') control.setAttribute('aria-valuetext', text);
    });
    const open = view.querySelector('details[open]');
    view.innerHTML = shared.map((text, i) => text + (frames[frame][i] ?? '')).join('');
    if (open) view.querySelector('details').open = true;
    clearTimeout(timer);
    timer = setTimeout(() => spoken.textContent = view.querySelector('[role=img]').ariaLabel, 500);
  };
}
"""

# Controls are shown only where they work: on a screen, once the script runs.
STYLE = """
.explorer{position:relative;margin:1em 0}
.explorer-controls{display:grid;grid-template-columns:fit-content(50%) minmax(7em,20em) auto;
align-items:center;justify-content:start;gap:.2em .8em}
.explorer label{display:contents}
.explorer label span{grid-column:1}
.explorer :is(input,select){display:none;grid-column:2;min-height:2em;accent-color:#0072b2}
.explorer output{grid-column:2;font-variant-numeric:tabular-nums}
.explorer-spoken{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media screen{.explorer[data-ready] :is(input,select){display:block}
.explorer[data-ready] output{grid-column:3}
.explorer[data-ready] label:has(select)+output{display:none}}
"""


def sliders_html(controls, frames):
    """Return the HTML of an explorer.

    `controls` lists `(label, texts, first, menu)`: what each is called, its values in words, the
    position of the first, and whether it is a menu or a slider. `frames` holds the HTML of a figure
    for every combination of values, the last control running fastest.
    """
    position = 0
    for _, texts, first, _ in controls:
        position = position * len(texts) + first
    shared, pieces = _pack(frames)
    data = {"values": [texts for _, texts, _, _ in controls], "shared": shared, "frames": pieces}
    # Without any "<" nothing in the data can end the script element or open a comment.
    data = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    rows = "".join(_control(*control) for control in controls)
    return (
        f'<div class="explorer" data-lm-suppress-shortcuts="true"><style>{STYLE}</style>'
        f'<div class="explorer-controls">{rows}</div>'
        f'<div class="explorer-view">{frames[position]}</div>'
        '<div class="explorer-spoken" aria-live="polite"></div>'
        f'<script type="application/json">{data}</script></div><script>{SCRIPT}</script>'
    )


def _control(label, texts, first, menu):
    texts = [escape(text) for text in texts]
    if menu:
        options = [f'<option value="{i}"{" selected" if i == first else ""}>{text}</option>'
                   for i, text in enumerate(texts)]
        control = f'<select autocomplete="off">{"".join(options)}</select>'
    else:
        control = (f'<input type="range" max="{len(texts) - 1}" value="{first}" '
                   f'aria-valuetext="{texts[first]}" autocomplete="off">')
    # The control itself tells its value; a live <output> would tell it again.
    return (f"<label><span>{html_text(label)}</span>{control}</label>"
            f'<output aria-live="off">{texts[first]}</output>')


def _pack(frames):
    """Split frames into the text that they share and the pieces in which they differ.

    Frame k is shared[0] + pieces[k][0] + shared[1] + pieces[k][1] + …; most of a frame is markup
    that all share. Frames of different structure share nothing and stay whole.
    """
    split = [re.split(r'([<>"])', frame) for frame in frames]
    if len(set(map(len, split))) > 1:
        return [""], [[frame] for frame in frames]
    shared, pieces = [""], [[] for _ in frames]
    for column in zip(*split, strict=True):
        if len(set(column)) == 1:
            shared[-1] += column[0]
        else:
            shared.append("")
            for piece, part in zip(pieces, column, strict=True):
                piece.append(part)
    return shared, pieces
