// A link into a folded part unfolds it; what went wrong is unfolded for print; the filter leaves what its words name.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (target) target.scrollIntoView();
}

function filter(field, count) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const named = [...document.querySelectorAll("[data-name]")];
  for (const part of named) part.hidden = !words.every((word) => part.dataset.name.toLowerCase().includes(word));
  for (const group of document.querySelectorAll(".family, .passing")) {
    group.hidden = !group.querySelector("[data-name]:not([hidden])");
    if (group.tagName === "DETAILS") group.open = words.length > 0 || group.dataset.open === "true";
  }
  count.value = words.length ? `${named.filter((part) => !part.hidden).length} of ${named.length}` : "";
}

addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", () => {
  const label = document.getElementById("filter");
  const [field, count] = [label.querySelector("input"), label.querySelector("output")];
  for (const group of document.querySelectorAll("details.passing")) group.dataset.open = group.open;
  label.hidden = false;
  field.addEventListener("input", () => filter(field, count));
  unfold();
});
addEventListener("beforeprint", () => document.querySelectorAll("details.bad").forEach((part) => (part.open = true)));
