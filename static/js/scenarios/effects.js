/** Draws what the values of a scenario's form do, as they are typed: how the window slides, and who has which share. */

import { dataOf, fieldOf, find, query, queryAll } from "../shared/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const SHOWN_MESSAGES = 15; // of a conversation, each a column
const FIRST_SHOWN = 6; // with so many messages the window of the drawing is full
const CELL = { width: 13, height: 9, gap: 3 };

/** @typedef {{contextWindow: number, replyReserve: number}} Model in tokens */
/** @typedef {{whole: number, from: number, to: number, tokens: Record<string, number>}} Share of a bar */

/** @param {ParentNode} root */
export function startEffects(root) {
  const form = query(root, "[data-scenario-form]", HTMLFormElement);
  if (form) {
    const draw = () => drawEffects(form);
    form.addEventListener("input", draw);
    form.addEventListener("change", draw);
    draw();
  }
}

/** @param {HTMLFormElement} form */
function drawEffects(form) {
  for (const effect of queryAll(form, "[data-effect]")) {
    const share = shareOf(form, dataOf(effect, "effect"));
    effect.hidden = !share;
    if (share) {
      drawShare(effect, share);
    }
  }
  for (const drawing of queryAll(form, "[data-slide]")) {
    drawSlide(drawing, form);
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name of the field
 * @returns {Share | null} nothing where the value is none, or does nothing
 */
function shareOf(form, name) {
  const { contextWindow, replyReserve } = modelOf(form);
  const reply = numberOf(form, "reply_reserve_tokens") ?? replyReserve;
  const unlimited = contextWindow - reply;
  const budget = Math.min(unlimited, numberOf(form, "cap_tokens") ?? unlimited);
  const value = numberOf(form, name);
  if (unlimited <= 0 || budget <= 0) {
    return null;
  }
  switch (name) {
    case "reply_reserve_tokens":
      return { whole: contextWindow, from: unlimited, to: contextWindow, tokens: { reply, prompt: unlimited } };
    case "cap_tokens":
      return value
        ? { whole: contextWindow, from: 0, to: budget, tokens: { tokens: budget, whole: contextWindow } }
        : null;
    case "message_cap_tokens":
    case "summary_cap_tokens":
      return value ? partOf(budget, value) : null;
    default:
      return value !== null && value <= 1 ? partOf(budget, Math.floor(budget * value)) : null;
  }
}

/**
 * @param {number} whole
 * @param {number} most
 * @returns {Share}
 */
function partOf(whole, most) {
  const tokens = Math.min(most, whole);
  return { whole, from: 0, to: tokens, tokens: { tokens } };
}

/**
 * @param {HTMLElement} effect
 * @param {Share} share
 */
function drawShare(effect, { whole, from, to, tokens }) {
  const bar = find(effect, "[data-bar]", SVGRectElement);
  bar.setAttribute("x", `${(100 * from) / whole}%`);
  bar.setAttribute("width", `${(100 * (to - from)) / whole}%`);
  find(effect, ".effect-words").textContent = inWords(dataOf(effect, "words"), tokens);
}

/**
 * Draw the requests of a conversation below each other, its messages as columns: what is sent is filled.
 * @param {HTMLElement} drawing
 * @param {HTMLFormElement} form
 */
function drawSlide(drawing, form) {
  const policy = query(form, '[name="policy_name"]:checked', HTMLInputElement)?.value ?? "";
  const begins = beginnings(policy, form);
  const words = JSON.parse(dataOf(drawing, "words"))[policy];
  drawing.hidden = !begins || !words;
  if (!begins || !words) {
    return;
  }
  const rows = begins.flatMap((begin, row) => {
    const count = FIRST_SHOWN + row;
    return Array.from({ length: begin === null ? 0 : count }, (_, column) =>
      cell(column, row, column === count - 1 ? "part-newest" : column < Number(begin) ? "part-free" : "part-older"),
    );
  });
  find(drawing, "svg", SVGElement).replaceChildren(...rows);
  const percent = Math.round(100 * (numberOf(form, "low_water_share") ?? 0));
  find(drawing, ".effect-words").textContent = inWords(words, {
    percent,
    messages: numberOf(form, "last_messages") ?? 0,
  });
}

/**
 * @param {string} policy
 * @param {HTMLFormElement} form
 * @returns {(number | null)[] | null} the first message of each request, null where it is refused; null as a whole where
 *   the value or the policy says nothing that can be drawn
 */
function beginnings(policy, form) {
  const counts = Array.from({ length: SHOWN_MESSAGES - FIRST_SHOWN + 1 }, (_, row) => FIRST_SHOWN + row);
  if (policy === "full") {
    return counts.map((count) => (count > FIRST_SHOWN + 3 ? null : 0));
  }
  if (policy === "last-n-messages") {
    const kept = numberOf(form, "last_messages");
    return kept && kept >= 1 ? counts.map((count) => Math.max(0, count - kept)) : null;
  }
  const share = numberOf(form, "low_water_share");
  if (!policy.startsWith("sliding") || !share || share > 1) {
    return null;
  }
  let begin = 0;
  return counts.map((count) => {
    if (count - begin > FIRST_SHOWN) {
      begin = count - Math.max(1, Math.round(FIRST_SHOWN * share));
    }
    return begin;
  });
}

/**
 * @param {number} column
 * @param {number} row
 * @param {string} part
 */
function cell(column, row, part) {
  const rect = document.createElementNS(SVG, "rect");
  const attributes = {
    x: column * (CELL.width + CELL.gap),
    y: row * (CELL.height + CELL.gap),
    width: CELL.width,
    height: CELL.height,
    rx: 2,
  };
  for (const [name, value] of Object.entries(attributes)) {
    rect.setAttribute(name, String(value));
  }
  rect.classList.add(part);
  return rect;
}

/**
 * @param {HTMLFormElement} form
 * @returns {Model} the chosen one
 */
function modelOf(form) {
  return (
    JSON.parse(dataOf(form, "models"))[fieldOf(form, "language_model").value] ?? { contextWindow: 0, replyReserve: 0 }
  );
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 * @returns {number | null} nothing where there is none, or no number
 */
function numberOf(form, name) {
  const typed = fieldOf(form, name).value.trim();
  const value = Number(typed);
  return typed && Number.isFinite(value) && value >= 0 ? value : null;
}

/**
 * @param {string} words with numbers in braces
 * @param {Record<string, number>} numbers
 */
function inWords(words, numbers) {
  return words.replace(/\{(\w+)\}/g, (_, name) => (numbers[name] ?? 0).toLocaleString("en-US")); // as all figures are
}
