// The search by the numbers of the documents: "theorem 7.9", "Lemma A.24", "7.9", an id, an older id, also with words
// that tell the document ("theorem 1 Mousavi-Hosseini"). What is found stands above what the search of words finds.
function lemmataWords(text) {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}.']+/gu, " ").trim().split(/ +/).filter((word) => word);
  return words.map((word) => word.replace(/\.$/, "")).map((word) => LEMMATA_OLDER[word] || word);
}
function lemmataNumbered(query) {
  const words = lemmataWords(query);
  const found = [];
  for (const [place, title, names, about] of LEMMATA_STATEMENTS) {
    let best = 0;
    for (const name of names) {
      const parts = name.split(" ");
      for (let start = 0; start + parts.length <= words.length; start++) {
        const rest = [...words.slice(0, start), ...words.slice(start + parts.length)];
        if (parts.every((part, i) => words[start + i] === part) && rest.every((word) => about.includes(word))) {
          best = Math.max(best, parts.length);
        }
      }
    }
    if (best) found.push({ best, place, title });
  }
  const most = Math.max(0, ...found.map((one) => one.best));
  return found.filter((one) => one.best === most);
}
if (typeof document !== "undefined") {
  document.addEventListener("DOMContentLoaded", () => {
    const query = new URLSearchParams(window.location.search).get("q");
    const results = document.getElementById("search-results");
    if (!query || !results) return;
    const items = lemmataNumbered(query).map(({ place, title }) => {
      const item = document.createElement("li");
      const link = item.appendChild(document.createElement("a"));
      link.href = place;
      link.textContent = title;
      return item;
    });
    const show = () => {
      const list = results.querySelector("ul.search");
      if (list && !items.some((item) => item.parentNode === list)) list.prepend(...items);
      const summary = results.querySelector(".search-summary");
      if (summary && items.length && summary.textContent.includes("did not match")) {
        summary.textContent = "No page has these words together. By number:";
      }
    };
    if (items.length) new MutationObserver(show).observe(results, { childList: true, subtree: true });
    show();
  });
}
