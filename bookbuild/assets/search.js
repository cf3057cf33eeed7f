// The search page, around Sphinx's own search.

// The index grows with the book, so it is fetched only when there is something to look for.
if (new URLSearchParams(location.search).get("q")) {
  Search.loadIndex(`${document.documentElement.dataset.content_root}searchindex.js`);
}
document.querySelector(".bd-search-container input").focus();

// Sphinx takes its excerpts from whole pages, with bars, menus, and every formula twice.
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const part of page.querySelectorAll("script, style, .headerlink, .katex-mathml")) part.remove();
  const place = page.getElementById(anchor.slice(1)) ?? page.querySelector("article");
  return place.textContent;
};

// From file:// no page may read another, and Sphinx does not expect the refusal.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
