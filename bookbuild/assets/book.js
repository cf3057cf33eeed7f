// The site's own script. Everything on a page reads well without it.

// A button that copies a cell's code; outputs are to be read.
for (const box of document.querySelectorAll("div.highlight")) {
  if (box.closest(".cell_output")) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  box.append(button);
}

// A formula wider than its box scrolls by keyboard, too. (The theme does this for code and tables.)
function reachScrollers() {
  for (const box of document.querySelectorAll(".math-scroll")) {
    const scrolls = box.scrollWidth > box.clientWidth;
    box.tabIndex = scrolls ? 0 : -1;
    if (scrolls) {
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Formula, scrolls sideways");
    }
  }
}
addEventListener("load", reachScrollers);
addEventListener("resize", reachScrollers);

// On paper nothing is folded.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of folded) fold.open = false;
});

// The search page: Sphinx takes its excerpts from whole pages, with bars, menus, and every formula twice.
if (typeof Search !== "undefined") {
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const part of page.querySelectorAll("script, style, .headerlink, .katex-mathml")) part.remove();
    const place = page.getElementById(anchor.slice(1)) ?? page.querySelector("article");
    return place.textContent;
  };
  // From file:// no page may read another, and Sphinx does not expect the refusal.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
