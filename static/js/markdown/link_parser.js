/** Links as Markdown writes them, and which addresses may become one: as `conversations/rendering/links.py` decides. */

import { normaliseLabel, unescapeMarkdown } from "./markdown_characters.js";

const MAX_ADDRESS_CHARACTERS = 2_000;
const HOST = /^(?:[a-z0-9][a-z0-9._-]*|[0-9a-f:.]*:[0-9a-f:.]*)$/;
const KEPT = /%[0-9a-f]{2}|[^A-Za-z0-9;/?:@&=+$,\-_.!~*'()#]/giu;

/**
 * Return the address as it is linked, percent-encoded.
 * @param {string} url
 */
export function normaliseAddress(url) {
  const [, before, host, after] = /^(\w+:\/\/)([^/?#]*)(.*)$/su.exec(url.trim()) ?? [];
  return encode(host && /[^\0-\x7f]/u.test(host) ? before + asciiHost(host) + after : url.trim());
}

/** @param {string} text */
function encode(text) {
  return text.replace(KEPT, (found) => {
    if (found.length === 3 && found[0] === "%") {
      return found;
    }
    return /[\ud800-\udfff]/.test(found) && found.length === 1 ? "%EF%BF%BD" : encodeURIComponent(found);
  });
}

/** @param {string} host */
function asciiHost(host) {
  try {
    return new URL(`https://${host}/`).host;
  } catch {
    return host;
  }
}

/**
 * Whether *address* may become a link: absolute, of a listed scheme, without a user name.
 * @param {string} address
 */
export function isAllowedAddress(address) {
  const [, scheme, authority, rest] = /^(https?|mailto):(?:\/\/([^/?#]*))?(.*)$/isu.exec(address) ?? [];
  if (!scheme || address.length > MAX_ADDRESS_CHARACTERS || authority?.includes("@")) {
    return false;
  }
  if (scheme.toLowerCase() === "mailto") {
    return !/^[?#]|^$/.test(rest);
  }
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority ?? "") ?? [];
  const name = (host ?? "").toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return HOST.test(name) && Number(port || 0) < 65_536;
}

/**
 * Return the host of an allowed address; of mail, what stands for it.
 * @param {string} address
 */
export function hostOf(address) {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(address) ?? [];
  if (authority === undefined) {
    return address.replace(/^mailto:/i, "").replace(/[?#].*$/su, "");
  }
  return authority
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1");
}

/**
 * Read the address of a link.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {{address: string, end: number} | undefined}
 */
export function readDestination(text, start, end) {
  let position = start;
  if (text[start] === "<") {
    for (position += 1; position < end; position += 1) {
      const character = text[position];
      if (character === "\n" || character === "<") {
        return undefined;
      }
      if (character === ">") {
        return { address: unescapeMarkdown(text.slice(start + 1, position)), end: position + 1 };
      }
      position += character === "\\" && position + 1 < end ? 1 : 0;
    }
    return undefined;
  }
  let level = 0;
  for (; position < end; position += 1) {
    const character = text[position];
    if (character <= " " || character === "\x7f") {
      break;
    }
    if (character === "\\" && position + 1 < end) {
      if (text[position + 1] === " ") {
        break;
      }
      position += 1;
    } else if (character === "(") {
      level += 1;
      if (level > 32) {
        return undefined;
      }
    } else if (character === ")") {
      if (!level) {
        break;
      }
      level -= 1;
    }
  }
  position = Math.min(position, end);
  if (position === start || level) {
    return undefined;
  }
  return { address: unescapeMarkdown(text.slice(start, position)), end: position };
}

/**
 * Return where the title of a link ends; -1 if there is none, -2 if it might go on behind *end*.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
export function titleEnd(text, start, end) {
  const opener = text[start];
  if (start >= end || !(opener === '"' || opener === "'" || opener === "(")) {
    return -1;
  }
  const closer = opener === "(" ? ")" : opener;
  for (let position = start + 1; position < end; position += 1) {
    if (text[position] === closer) {
      return position + 1;
    }
    if (text[position] === "(" && closer === ")") {
      return -1;
    }
    position += text[position] === "\\" && position + 1 < end ? 1 : 0;
  }
  return -2;
}

/**
 * Read a definition such as `[name]: address "title"`.
 * @param {string} first its first line, with the line's end
 * @param {(index: number) => string | undefined} lineAt gives the lines that go on with it
 * @returns {{label: string, href: string, lines: number} | undefined}
 */
export function readDefinition(first, lineAt) {
  let [text, lines] = [first, 1];
  const addLine = () => {
    const line = lineAt(lines);
    if (line === undefined) {
      return false;
    }
    text += line;
    lines += 1;
    return true;
  };
  const labelEnd = readLabel(() => text, addLine);
  if (labelEnd < 0 || text[labelEnd + 1] !== ":") {
    return undefined;
  }
  const skipSpace = (/** @type {number} */ from) => {
    let position = from;
    for (; position < text.length && /[\t\n ]/.test(text[position]); position += 1) {
      text[position] === "\n" && addLine();
    }
    return position;
  };
  const destination = readDestination(text, skipSpace(labelEnd + 2), text.length);
  const href = destination ? normaliseAddress(destination.address) : "";
  if (!destination || !isAllowedAddress(href)) {
    return undefined;
  }
  const [addressEnd, addressLines] = [destination.end, lines];
  const start = skipSpace(addressEnd);
  let end = titleEnd(text, start, text.length);
  while (end === -2 && addLine()) {
    end = titleEnd(text, start, text.length);
  }
  const isRest = (/** @type {number} */ from) => /^[\t ]*(?:\n|$)/.test(text.slice(from));
  const hasTitle = end > 0 && start !== addressEnd && isRest(end);
  if (!hasTitle) {
    lines = addressLines;
    if (!isRest(addressEnd)) {
      return undefined;
    }
  }
  const label = normaliseLabel(text.slice(1, labelEnd));
  return label ? { label, href, lines } : undefined;
}

/**
 * @param {() => string} text
 * @param {() => boolean} addLine
 */
function readLabel(text, addLine) {
  for (let position = 1; position < text().length; position += 1) {
    const character = text()[position];
    if (character === "[") {
      return -1;
    }
    if (character === "]") {
      return position;
    }
    position += character === "\\" ? 1 : 0;
    text()[position] === "\n" && addLine();
  }
  return -1;
}
