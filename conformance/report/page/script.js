// A link into a folded part unfolds it; what went wrong is unfolded for print.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("details.bad").forEach((part) => (part.open = true)));
