/** Says what the chosen tools cost together in every request. A box of all tools of a server has each of them in it. */

function counted(group) {
  const chosen = [...group.querySelectorAll("input[data-tokens]:checked")];
  const all = chosen.find(({ value }) => value.endsWith("__*"));
  return all ? [all] : chosen;
}

for (const choice of document.querySelectorAll("[data-tool-choice]")) {
  const sum = choice.querySelector("[data-tool-sum]");
  const tell = () => {
    const groups = [...choice.querySelectorAll("fieldset")];
    const tokens = groups.flatMap(counted).reduce((all, { dataset }) => all + Number(dataset.tokens), 0);
    const figure = tokens.toLocaleString("en-US"); // as all figures of the site are written
    sum.textContent = tokens ? sum.dataset.textSum.replace("%(tokens)s", figure) : "";
  };
  if (sum) {
    choice.addEventListener("change", tell);
    tell();
  }
}
