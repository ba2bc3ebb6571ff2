/** Says what the chosen tools cost together in every request. A box of all tools of a server has each of them in it. */

import { dataOf, query, queryAll } from "../shared/dom.js";

/** @param {ParentNode} root */
export function startToolChoice(root) {
  for (const choice of queryAll(root, "[data-tool-choice]")) {
    const sum = query(choice, "[data-tool-sum]");
    if (sum) {
      choice.addEventListener("change", () => showSum(choice, sum));
      showSum(choice, sum);
    }
  }
}

/**
 * @param {HTMLElement} choice
 * @param {HTMLElement} sum
 */
function showSum(choice, sum) {
  const boxes = queryAll(choice, "fieldset").flatMap(countedBoxes);
  const tokens = boxes.reduce((all, { dataset }) => all + Number(dataset.tokens), 0);
  const figure = tokens.toLocaleString("en-US"); // as all figures of the site are written
  sum.textContent = tokens ? dataOf(sum, "words").replace("%(tokens)s", figure) : "";
}

/** @param {HTMLElement} group */
function countedBoxes(group) {
  const chosen = queryAll(group, "input[data-tokens]:checked", HTMLInputElement);
  const all = chosen.find(({ value }) => value.endsWith("__*"));
  return all ? [all] : chosen;
}
