/**
 * What stands in a block, as a tree of elements: links with the host that they lead to, addresses in the text as links.
 *
 * Pure: knows no page.
 */

import { hostOf, isAllowedAddress, normaliseAddress } from "./link_parser.js";

/** @import { Token } from "./inline_parser.js" */

const BARE_ADDRESS =
  /(?<![A-Za-z0-9_/@.])(?:[hH][tT][tT][pP][sS]?:\/\/|[wW][wW][wW]\.)[^\s<>`\u3000-\u303f\uff00-\uffef]+/g;
const HOST_IN_TEXT = /(?:(?<=\/\/)|(?<![\p{L}\p{N}_/.-]))(?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}{2,63}/gu;

/**
 * @typedef {object} Piece an element, or text without a tag
 * @property {string} tag
 * @property {string} text
 * @property {Record<string, string>} [attributes]
 * @property {Piece[]} [children]
 */

/**
 * Return what *tokens* are as a tree: links with the host that they lead to, addresses in the text as links.
 * @param {Token[]} tokens
 * @returns {Piece[]}
 */
export function toPieces(tokens) {
  /** @type {Piece[]} */
  const root = [];
  const stack = [root];
  const links = [];
  let text = ""; // of the link that is open
  const add = (/** @type {Piece} */ piece) => {
    const last = stack.at(-1)?.at(-1);
    if (!piece.tag && last && !last.tag) {
      last.text += piece.text;
    } else {
      stack.at(-1)?.push(piece);
    }
  };
  for (const token of joinTexts(tokens)) {
    if (token.type === "open") {
      /** @type {Piece} */
      const piece = { tag: token.tag, text: "", children: [] };
      if (token.tag === "a") {
        piece.attributes = linkAttributes(token.href ?? "");
        links.push(token.href ?? "");
        text = "";
      }
      add(piece);
      stack.push(piece.children ?? []);
    } else if (token.type === "close") {
      const host = token.tag === "a" ? hostOf(links.pop() ?? "") : "";
      if (token.tag === "a" && namesAnotherHost(text, host)) {
        add(hostLabel(host));
      }
      stack.pop();
    } else if (token.type === "image" && !links.length) {
      const href = token.href ?? "";
      const host = hostOf(href);
      const children = [{ tag: "", text: token.text }, hostLabel(host)];
      namesAnotherHost(`${token.text} (${host})`, host) && children.push(hostLabel(host));
      add({ tag: "a", text: "", attributes: { ...linkAttributes(href), class: "image-link" }, children });
    } else {
      text += token.text;
      addToken(token, links.length > 0, add);
    }
  }
  return root;
}

/**
 * @param {Token} token
 * @param {boolean} isInLink
 * @param {(piece: Piece) => void} add
 */
function addToken({ type, text }, isInLink, add) {
  if (type === "break") {
    add({ tag: "br", text: "" });
    add({ tag: "", text: "\n" });
  } else if (type === "code") {
    add({ tag: "code", text: "", children: [{ tag: "", text }] });
  } else if (type === "citation") {
    const attributes = { type: "button", class: "citation", "data-citation": text };
    add({ tag: "button", text: "", attributes, children: [{ tag: "", text: `[${text}]` }] });
  } else if (type === "text" && !isInLink) {
    linkAddresses(text, add);
  } else {
    add({ tag: "", text });
  }
}

/**
 * @param {string} text
 * @param {(piece: Piece) => void} add
 */
function linkAddresses(text, add) {
  let shown = 0;
  for (const match of text.matchAll(BARE_ADDRESS)) {
    const written = withoutPunctuation(match[0]);
    const href = normaliseAddress((/^www\./i.test(written) ? "https://" : "") + written);
    if (isAllowedAddress(href)) {
      const host = hostOf(href);
      add({ tag: "", text: text.slice(shown, match.index) });
      const children = [{ tag: "", text: written }];
      namesAnotherHost(written, host) && children.push(hostLabel(host));
      add({ tag: "a", text: "", attributes: linkAttributes(href), children });
      shown = match.index + written.length;
    }
  }
  add({ tag: "", text: text.slice(shown) });
}

/** @param {string} address */
function withoutPunctuation(address) {
  let unopened = address.split(")").length - address.split("(").length;
  let end = address.length;
  while (end && ("?!.,:;*_~'\"[]".includes(address[end - 1]) || (address[end - 1] === ")" && unopened > 0))) {
    unopened -= address[end - 1] === ")" ? 1 : 0;
    end -= 1;
  }
  return address.slice(0, end);
}

/** @param {string} href */
function linkAttributes(href) {
  const attributes = { href, target: "_blank", referrerpolicy: "no-referrer", rel: "noopener noreferrer nofollow ugc" };
  return href ? { ...attributes, title: href } : attributes;
}

/**
 * @param {string} host
 * @returns {Piece}
 */
function hostLabel(host) {
  return { tag: "span", text: "", attributes: { class: "link-host" }, children: [{ tag: "", text: ` (${host})` }] };
}

/**
 * @param {string} text
 * @param {string} host
 */
function namesAnotherHost(text, host) {
  const named = [...text.matchAll(HOST_IN_TEXT)].map(([found]) => found.toLowerCase().replace(/^www\./, ""));
  return named.some((name) => !`.${host}`.endsWith(`.${name}`));
}

/** @param {Token[]} tokens */
function joinTexts(tokens) {
  /** @type {Token[]} */
  const joined = [];
  for (const token of tokens) {
    const last = joined.at(-1);
    if (token.type === "text" && last?.type === "text") {
      last.text += token.text;
    } else {
      joined.push({ ...token });
    }
  }
  return joined;
}
