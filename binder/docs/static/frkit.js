// Wide tables scroll, also by keyboard; folded cells are named by the words that they show.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.dataframe")) table.tabIndex = 0;
  for (const fold of document.querySelectorAll("summary[aria-label]")) {
    fold.removeAttribute("aria-label");
  }
});
