/** Characters as CommonMark sorts them, escapes and character references. */

const SPACES = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";
const TRIMMED = new RegExp(`^[${SPACES}\\u2028\\u2029]+|[${SPACES}\\u2028\\u2029]+$`, "g");
const TRIMMED_RUN = new RegExp(`[${SPACES}\\u2028\\u2029]+`, "g");
const SPACE = new RegExp(`^[${SPACES}]$`);
const PUNCTUATION = /^[\p{P}\p{S}]$/u;
const ESCAPES = /\\([!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~])|&([a-z#][a-z0-9]{1,31});/gi;

/** @type {Map<string, string | undefined>} */
const knownNames = new Map();

/** @param {string} text */
export function trimMarkdown(text) {
  return text.replace(TRIMMED, "");
}

/** @param {string} character */
export function isWhiteSpace(character) {
  return SPACE.test(character);
}

/** @param {string} character */
export function isPunctuation(character) {
  return PUNCTUATION.test(character);
}

/**
 * Return the name of a link definition as it is compared.
 * @param {string} label
 */
export function normaliseLabel(label) {
  return trimMarkdown(label).replace(TRIMMED_RUN, " ").toLowerCase().toUpperCase();
}

/**
 * Return the characters that a named reference such as `amp` stands for.
 * @param {string} name
 */
export function namedCharacter(name) {
  if (!/^[a-z][a-z0-9]{1,31}$/i.test(name)) {
    return undefined;
  }
  if (!knownNames.has(name)) {
    // The browser knows all names. Nothing but letters and digits reaches its parser.
    const written = `&${name};`;
    const read = new DOMParser().parseFromString(written, "text/html").body.textContent;
    const isKnown = name === "semi" || !read.endsWith(";"); // of what it doesn't know, the semicolon stays
    knownNames.set(name, isKnown ? read : undefined);
  }
  return knownNames.get(name);
}

/** @param {number} code */
export function isShowable(code) {
  return !(
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xfdd0 && code <= 0xfdef) ||
    (code & 0xfffe) === 0xfffe ||
    code <= 0x08 ||
    code === 0x0b ||
    (code >= 0x0e && code <= 0x1f) ||
    (code >= 0x7f && code <= 0x9f) ||
    code > 0x10ffff
  );
}

/**
 * Resolve escapes and character references, as in addresses.
 * @param {string} text
 */
export function unescapeMarkdown(text) {
  return text.replace(ESCAPES, (written, escaped, name) => {
    if (escaped) {
      return escaped;
    }
    const [, hexadecimal, decimal] = /^#(?:x([a-f0-9]{1,8})|([0-9]{1,8}))$/i.exec(name) ?? [];
    if (hexadecimal || decimal) {
      const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      return isShowable(code) ? String.fromCodePoint(code) : written;
    }
    return namedCharacter(name) ?? written;
  });
}
