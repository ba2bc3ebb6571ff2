/** Says what the chosen tools cost together in every request. */

for (const choice of document.querySelectorAll("[data-tool-choice]")) {
  const sum = choice.querySelector("[data-tool-sum]");
  const tell = () => {
    const chosen = [...choice.querySelectorAll("input[data-tokens]:checked")];
    const tokens = chosen.reduce((all, { dataset }) => all + Number(dataset.tokens), 0);
    const figure = tokens.toLocaleString("en-US"); // as all figures of the site are written
    sum.textContent = tokens ? sum.dataset.textSum.replace("%(tokens)s", figure) : "";
  };
  if (sum) {
    choice.addEventListener("change", tell);
    tell();
  }
}
