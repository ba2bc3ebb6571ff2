/** Markdown of a reply that is being written: read as a tree, and drawn. A bundle of its own: most pages need it later. */

import { DrawnMarkdown } from "./drawn_markdown.js";
import { BlockTooComplex, MarkdownTree } from "./markdown_tree.js";

export { BlockTooComplex, DrawnMarkdown, MarkdownTree };
