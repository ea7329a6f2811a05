// A search over all guides, and buttons that copy code. The pages work without it.
// sections, which the server puts before this, are the parts of all guides.
"use strict";

const search = document.getElementById("search");
const results = document.getElementById("results");
const contents = document.getElementById("contents");
search.closest("label").hidden = false;

// find returns the sections that have every word: first those that have one in a heading.
function find(words) {
  const found = [];
  for (const section of sections) {
    const heading = `${section.guide} ${section.title}`.toLowerCase();
    const all = `${heading} ${section.text.toLowerCase()}`;
    if (words.every((word) => all.includes(word))) {
      found.push({ section, rank: words.filter((word) => heading.includes(word)).length });
    }
  }
  return found.sort((a, b) => b.rank - a.rank).map((one) => one.section);
}

// excerpt shows the text around the first word that is in it, with that word marked.
function excerpt(text, words) {
  const line = document.createElement("small");
  const lower = text.toLowerCase();
  const word = words.find((one) => lower.includes(one));
  if (!word) {
    line.textContent = text.slice(0, 100);
    return line;
  }

  const at = lower.indexOf(word);
  const mark = document.createElement("mark");
  mark.textContent = text.slice(at, at + word.length);
  const start = Math.max(0, at - 45);
  line.append((start > 0 ? "…" : "") + text.slice(start, at), mark, text.slice(at + word.length, at + word.length + 70) + "…");
  return line;
}

search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  contents.hidden = words.length > 0;

  const found = find(words);
  const count = document.createElement("p");
  count.textContent = found.length === 0 ? "No results" : `${found.length} ${found.length === 1 ? "result" : "results"}`;
  results.replaceChildren(count, ...found.slice(0, 30).map((section) => {
    const link = document.createElement("a");
    link.href = section.url;
    link.append(section.title === section.guide ? section.guide : `${section.guide} › ${section.title}`, excerpt(section.text, words));
    return link;
  }));
});

search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && event.target !== search) {
    event.preventDefault();
    search.focus();
  }
});

for (const code of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  code.parentElement.append(button);
}
