// The site's own script, in place of the theme's and Bootstrap's. Everything on a page reads well without it.
const page = document.documentElement;
const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Light, dark, or as the system has it. (The page's head sets it before anything is drawn.)
const dark = matchMedia("(prefers-color-scheme: dark)");
const switches = all(".theme-switch-button");
function setMode(mode) {
  page.dataset.mode = mode;
  page.dataset.theme = mode !== "auto" ? mode : dark.matches ? "dark" : "light";
  for (const button of switches) button.ariaLabel = `Color mode: ${mode}`;
}
setMode(page.dataset.mode);
dark.addEventListener("change", () => setMode(page.dataset.mode));
for (const button of switches) {
  button.addEventListener("click", () => {
    const modes = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    setMode(modes[(modes.indexOf(page.dataset.mode) + 1) % 3]);
    localStorage.setItem("mode", page.dataset.mode);
  });
}

function closeOnClickOutside(dialog) {
  dialog.addEventListener("click", ({ clientX: x, clientY: y, detail }) => {
    const box = dialog.getBoundingClientRect();
    // Keys click, too: at no place, and without a count.
    if (detail && (x < box.left || x > box.right || y < box.top || y > box.bottom)) dialog.close();
  });
}

// On a narrow screen a sidebar opens as a dialog; on a wide one the list of chapters can be put away.
const wide = matchMedia("(min-width: 992px)");
for (const name of ["primary", "secondary"]) {
  const [bar, dialog] = [one(`#pst-${name}-sidebar`), one(`#pst-${name}-sidebar-modal`)];
  const button = one(`.${name}-toggle`);
  if (!bar || !button) continue;
  const move = (from, to) => {
    to.append(...from.childNodes);
    [to.className, from.className] = [from.className, ""];
  };
  button.addEventListener("click", () => {
    if (name === "primary" && wide.matches) {
      button.ariaExpanded = String(!bar.classList.toggle("pst-sidebar-hidden"));
      return;
    }
    move(bar, dialog);
    dialog.showModal();
  });
  dialog.addEventListener("close", () => move(dialog, bar));
  dialog.addEventListener("click", (event) => event.target.closest("a") && dialog.close());
  closeOnClickOutside(dialog);
}

// Search: in a dialog, by button or key; the search page has a field of its own.
const [field, search] = [one(".bd-search-container input"), one("#pst-search-dialog")];
function toggleSearch() {
  if (field) field.select();
  else if (search.open) search.close();
  else search.showModal();
}
const apple = /^(Mac|iP)/.test(navigator.platform);
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(apple ? event.metaKey : event.ctrlKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  toggleSearch();
});
if (apple) for (const key of all(".kbd-shortcut__modifier")) key.textContent = "⌘";
for (const button of all(".search-button__button")) button.addEventListener("click", toggleSearch);
if (search) closeOnClickOutside(search);

// The contents of the page show where one is.
const entries = new Map(all("#pst-page-toc-nav a").map((link) => [document.getElementById(decodeURIComponent(link.hash.slice(1))), link]));
entries.delete(null);
const spy = new IntersectionObserver((changes) => {
  const here = changes.findLast((change) => change.isIntersecting);
  if (!here) return;
  const current = entries.get(here.target);
  for (const link of entries.values()) {
    link.classList.toggle("active", link === current);
    link.ariaCurrent = link === current ? "true" : null;
    link.closest("li").classList.toggle("active", link.closest("li").contains(current));
  }
}, { rootMargin: "0px 0px -70%" });
for (const section of entries.keys()) spy.observe(section);

// Sections that are not laid out yet have guessed heights (book.css), and a jump over them would miss its place.
addEventListener("click", (event) => { if (event.target.closest("a")?.hash) page.dataset.whole = ""; }, true);
addEventListener("hashchange", () => {
  if ("whole" in page.dataset) return;
  page.dataset.whole = "";
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
});

// Whoever turns back in a long page may want its beginning.
const toTop = one("#pst-back-to-top");
let last = 0;
addEventListener("scroll", () => {
  if (scrollY === last) return;
  toTop.style.display = scrollY < last && scrollY > innerHeight ? "block" : "none";
  last = scrollY;
}, { passive: true });
toTop.addEventListener("click", () => scrollTo(0, 0));

// Words that were searched for are marked where they stand, until Escape. Sphinx's search leaves them in the storage.
if (!one("#search-results")) {
  const wanted = localStorage.getItem("sphinx_highlight_terms") ?? new URLSearchParams(location.search).get("highlight");
  localStorage.removeItem("sphinx_highlight_terms");
  const words = (wanted ?? "").split(/\s+/).filter(Boolean).map((word) => word.replace(/\W/g, "\\$&"));
  if (words.length) markWords(new RegExp(`(${words.join("|")})`, "i"));
}
function markWords(pattern) {
  const texts = document.createTreeWalker(one("article"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (pattern.test(text.data) && !text.parentElement.closest(".katex, svg, script, style, button")) found.push(text);
  }
  for (const text of found) {
    const parts = text.data.split(pattern); // what matched stands between what did not
    text.replaceWith(...parts.map((part, index) => {
      if (index % 2 === 0) return part;
      const mark = document.createElement("mark");
      mark.textContent = part;
      return mark;
    }));
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const mark of all("mark")) mark.replaceWith(...mark.childNodes);
  });
}

// A button that copies a cell's code; outputs are to be read. It comes when the cell does: in a section that is not
// laid out yet, buttons would lie on one another.
const codes = new IntersectionObserver((changes) => {
  for (const { isIntersecting, target: box } of changes) {
    if (!isIntersecting) continue;
    codes.unobserve(box);
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(one("pre", box).textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    box.append(button);
  }
}, { rootMargin: "50%" });
for (const box of all("div.highlight")) if (!box.closest(".cell_output")) codes.observe(box);

// What is wider than its box scrolls by keyboard, too. Looked at when it is laid out, which far sections are not yet.
const kinds = { ".math-scroll": "Formula", pre: "Code", ".pst-scrollable-table-container": "Table", ".cell_output > .output": "Output" };
const scrollers = new ResizeObserver((changes) => {
  const wider = changes.map(({ target }) => target.scrollWidth > target.clientWidth); // measured before anything changes
  changes.forEach(({ target: box }, index) => {
    if (wider[index]) {
      box.tabIndex = 0;
      box.role = "group";
      box.ariaLabel = `${kinds[Object.keys(kinds).find((kind) => box.matches(kind))]}, scrolls sideways`;
    } else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  });
});
for (const box of all(Object.keys(kinds).join())) {
  box.tabIndex = 0; // until it is known
  scrollers.observe(box);
}

// On paper nothing is folded, and paper is white.
let folded = [];
addEventListener("beforeprint", () => {
  page.dataset.theme = "light";
  folded = all("details:not([open])");
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => {
  setMode(page.dataset.mode);
  for (const fold of folded) fold.open = false;
});
