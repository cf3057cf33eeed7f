// Drops from a style sheet what no page uses, for sheets.py: {"css", "names", "variables"} in, the sheet out.
// `names` are all tags, ids, classes and attributes of the pages; `variables` those that pages use by themselves.
const { PurgeCSS } = require("purgecss");
const postcss = require("postcss");

async function purged({ css, names, variables }) {
  const [{ css: kept }] = await new PurgeCSS().purge({
    content: [{ raw: names.join("\n"), extension: "txt" }],
    css: [{ raw: css }],
    defaultExtractor: (content) => content.split("\n"),
    fontFace: true,
    keyframes: true,
    variables: true,
    safelist: { variables },
  });
  const sheet = postcss.parse(kept);
  // Comments that start with ! are licences.
  sheet.walkComments((comment) => { if (!comment.text.startsWith("!")) comment.remove(); });
  sheet.walk((node) => { Object.assign(node.raws, { before: "", after: "", between: node.type === "decl" ? ":" : "" }); });
  sheet.raws.after = "\n";
  return sheet.toString();
}

process.stdin.setEncoding("utf8");
let input = "";
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", async () => process.stdout.write(await purged(JSON.parse(input))));
