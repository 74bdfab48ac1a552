// Names that fit what is typed into the search, above its own results: those that
// are it, or end with it, then those whose last part begins with it.
(() => {
  const here = new URL(".", document.currentScript.src);
  const most = 8;
  let names = null;

  // names_list.js sets window.siteNames: for each page the names that it has.
  function load(done) {
    if (names) return done();
    const script = document.createElement("script");
    script.src = new URL("names_list.js", here);
    script.onload = () => {
      names = Object.entries(window.siteNames).flatMap(([page, found]) =>
        found.map((name) => ({ name, page }))
      );
      done();
    };
    document.head.append(script);
  }

  function rank(name, query) {
    const lower = name.toLowerCase();
    if (name === query) return 0;
    if (name.endsWith("." + query)) return 1;
    if (lower.endsWith("." + query.toLowerCase())) return 2;
    if (lower.includes("." + query.toLowerCase())) return 3;
    return 9;
  }

  function fitting(query) {
    if (query.length < 2) return [];
    return names
      .map(({ name, page }) => ({ name, page, rank: rank(name, query) }))
      .filter((found) => found.rank < 9)
      .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length)
      .slice(0, most);
  }

  function show(input) {
    const results = document.querySelector(".md-search-result");
    if (!results) return;
    let list = results.querySelector(".site-names");
    if (!list) {
      list = document.createElement("ul");
      list.className = "site-names";
      results.prepend(list);
    }
    const query = input.value.trim().replace(/^hotaru\./, "torch.");
    list.replaceChildren(
      ...fitting(query).map(({ name, page }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = new URL(`reference/${page}#${name}`, here);
        link.textContent = name;
        item.append(link);
        return item;
      })
    );
  }

  document.addEventListener("DOMContentLoaded", () => {
    const input = document.querySelector(".md-search__input");
    if (!input) return;
    const answer = () => load(() => show(input));
    for (const kind of ["input", "focus"]) input.addEventListener(kind, answer);
    if (input.value) answer();
  });
})();
