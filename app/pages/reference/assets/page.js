// Conveniences beyond plain links: a filter for the contents, buttons that
// copy, and a mark at the part that is being read.
"use strict";

const nav = document.getElementById("nav");
const filter = document.getElementById("filter");
filter.closest("label").hidden = false;

filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of nav.querySelectorAll("section")) {
    const heading = section.querySelector("h2").textContent.toLowerCase();
    let any = false;
    for (const item of section.querySelectorAll("li")) {
      const text = `${heading} ${item.textContent} ${item.dataset.words ?? ""}`.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
      any = any || !item.hidden;
    }
    section.hidden = !any;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    event.preventDefault();
    filter.focus();
  }
});

for (const pre of document.querySelectorAll(".code pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  pre.parentElement.append(button);
}

// reveal scrolls the contents alone, never the page.
function reveal(link) {
  const at = link.getBoundingClientRect(), box = nav.getBoundingClientRect();
  if (at.top < box.top + 120) nav.scrollTop -= box.top + 120 - at.top;
  if (at.bottom > box.bottom - 40) nav.scrollTop += at.bottom - box.bottom + 40;
}

const links = new Map();
for (const link of nav.querySelectorAll("li a")) {
  links.set(link.getAttribute("href").slice(1), link);
}
let current = null;
const visible = new Set();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) visible.add(entry.target); else visible.delete(entry.target);
  }
  const first = [...visible].sort((a, b) => a.offsetTop - b.offsetTop)[0];
  const link = first && links.get(first.id);
  if (!link || link === current) return;
  if (current) current.classList.remove("current");
  current = link;
  current.classList.add("current");
  reveal(current);
}, { rootMargin: "-10% 0px -70% 0px" });
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (target) observer.observe(target);
}
