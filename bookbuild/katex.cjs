// Draws formulas for maths.py: one request a line in, {"tex", "display"}; one answer a line out, {"html"} or {"error"}.
// Usage: node katex.cjs MACROS, where MACROS is a JSON object of KaTeX macros.
const katex = require("katex");
const macros = JSON.parse(process.argv[2]);

function answer({ tex, display }) {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      macros: { ...macros }, // a copy, so that no formula can change another's
      output: "htmlAndMathml",
      strict: "error", // what KaTeX only tolerates is a mistake in a book
      throwOnError: true,
    });
    // The TeX source inside the MathML would be found by search and shown in its excerpts.
    return { html: html.replace(/<annotation [^]*?<\/annotation>/, "") };
  } catch (error) {
    if (error instanceof katex.ParseError) return { error: error.message };
    throw error;
  }
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(JSON.stringify(answer(JSON.parse(line)))));
