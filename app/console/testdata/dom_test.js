/** Tests of dom.js, run in a browser. Each is a function; a thrown error is a failure. */
import { append, computed, effect, el, flush, isSafe, list, onDispose, scope, signal, svg, untracked, when } from "./dom.js";

/** @param {unknown} got @param {unknown} want */
function equal(got, want) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`got ${a}, want ${b}`);
}
/** @param {Element} node */
const words = (node) => [...node.children].map((child) => child.textContent);
/** @param {import("./dom.js").Child} child */
const inPage = (child) => {
  const place = el("div");
  document.body.append(place);
  append(place, child);
  return place;
};

export const tests = {
  "a signal tells its readers once, together and later"() {
    const a = signal(1);
    const b = signal(1);
    const seen = /** @type {number[]} */ ([]);
    effect(() => void seen.push(a() + b()));
    a.set(2);
    b.set(3);
    a.set(4);
    equal(seen, [2]);
    flush();
    equal(seen, [2, 7]);
    a.set(4); // the same
    flush();
    equal(seen, [2, 7]);
  },

  async "a change shows in the next microtask"() {
    const a = signal("x");
    const node = el("p", null, () => a());
    a.set("y");
    equal(node.textContent, "x");
    await null;
    equal(node.textContent, "y");
  },

  "an effect depends on what it read last"() {
    const which = signal(true);
    const a = signal("a");
    const b = signal("b");
    let runs = 0;
    effect(() => {
      runs++;
      which() ? a() : b();
    });
    which.set(false);
    flush();
    a.set("a2");
    flush();
    equal(runs, 2);
    b.set("b2");
    flush();
    equal(runs, 3);
  },

  "what is made in an effect ends when it runs again"() {
    const outer = signal(0);
    const inner = signal(0);
    let runs = 0;
    const ended = /** @type {number[]} */ ([]);
    effect(() => {
      const at = outer();
      onDispose(() => void ended.push(at));
      effect(() => {
        inner();
        runs++;
      });
    });
    outer.set(1);
    outer.set(2);
    flush();
    equal([runs, ended], [2, [0]]);
    inner.set(1);
    flush();
    equal(runs, 3); // only the one that is left
  },

  "outer effects run before those inside them"() {
    const item = signal(/** @type {{ name: string } | null} */ ({ name: "x" }));
    const node = el("p", null, () => (item() ? el("b", null, () => item().name) : "none"));
    item.set(null);
    flush(); // the inner one would fail
    equal(node.textContent, "none");
  },

  "an effect that fails does not stop the others"() {
    const silence = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("error", silence);
    const a = signal(1);
    let after = 0;
    effect(() => {
      if (a() > 1) throw new Error("on purpose");
    });
    effect(() => void (after = a()));
    a.set(2);
    flush();
    removeEventListener("error", silence);
    equal(after, 2);
  },

  "effects that never settle are stopped"() {
    const a = signal(0);
    effect(() => a.set(a() + 1));
    let message = "";
    try {
      flush();
    } catch (error) {
      message = String(error);
    }
    equal(message.includes("again and again"), true);
  },

  "computed and untracked"() {
    const a = signal(2);
    const b = signal(10);
    const sum = computed(() => a() + untracked(b));
    b.set(20);
    flush();
    equal(sum(), 12);
    a.set(3);
    flush();
    equal(sum(), 23);
  },

  "elements have classes, attributes, listeners and text"() {
    let pressed = 0;
    const node = el("button.primary.small", { type: "button", disabled: false, hidden: true, "aria-pressed": false, title: null, onclick: () => pressed++ }, "a", 1, null, false, ["b", ["c"]]);
    node.click();
    equal([node.className, node.textContent, pressed], ["primary small", "a1bc", 1]);
    equal([node.hasAttribute("disabled"), node.getAttribute("hidden"), node.getAttribute("aria-pressed"), node.hasAttribute("title")], [false, "", "false", false]);
    equal(svg("svg", null, svg("path", { d: "M0 0" })).outerHTML, '<svg><path d="M0 0"></path></svg>');
  },

  "values and checks are properties, and a select knows its options"() {
    const value = signal("b");
    const select = el("select", { value: () => value() }, el("option", { value: "a" }), el("option", { value: "b" }));
    equal(select.value, "b");
    value.set("a");
    flush();
    equal(select.value, "a");
    equal(el("input", { type: "checkbox", checked: true }).checked, true);
  },

  "what strangers write stays text"() {
    const evil = '<img src=x onerror="alert(1)">';
    const node = el("p", { title: evil }, evil, () => evil);
    equal([node.children.length, node.textContent, node.title], [0, evil + evil, evil]);
  },

  "links lead to safe schemes only"() {
    for (const link of ["https://a.test", "http://a.test", "mailto:a@b.test", "tel:+1", "inbox", "../x", "#y", "blob:x"]) equal([link, isSafe(link)], [link, true]);
    for (const link of ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc", "http://["]) {
      equal([link, isSafe(link)], [link, false]);
      equal(el("a", { href: link }).hasAttribute("href"), false);
    }
  },

  "a region is replaced, and its text stays the same node"() {
    const shown = signal(/** @type {any} */ ("a"));
    const node = el("p", null, "[", () => shown(), "]");
    const text = node.childNodes[2];
    shown.set("b");
    flush();
    equal([node.textContent, node.childNodes[2] === text], ["[b]", true]);
    shown.set([el("b", null, "x"), el("i", null, "y")]);
    flush();
    equal(node.textContent, "[xy]");
    shown.set(null);
    flush();
    equal(node.textContent, "[]");
  },

  "when builds again only if the answer changes"() {
    const row = signal({ active: true, name: "a" });
    const node = el("p", null, when(() => row().active, () => el("button", null, () => row().name), () => "none"));
    const button = node.querySelector("button");
    row.set({ active: true, name: "b" });
    flush();
    equal([node.querySelector("button") === button, node.textContent], [true, "b"]);
    row.set({ active: false, name: "b" });
    flush();
    equal(node.textContent, "none");
  },

  "what grew inside of a region goes with it"() {
    const open = signal(true);
    const items = signal(["a"]);
    const node = el("div", null, () => open() && list(items, (one) => one, (one) => el("p", null, one())));
    items.set(["a", "b", "c"]);
    flush();
    equal(words(node), ["a", "b", "c"]);
    open.set(false);
    flush();
    equal(words(node), []);
    items.set(["d"]);
    flush();
    equal(words(node), []);
  },

  "a list keeps the elements of items that stay"() {
    const items = signal([{ id: 1, name: "a" }, { id: 2, name: "b" }, { id: 3, name: "c" }]);
    let made = 0;
    const node = el("ul", null, "before", list(items, (one) => one.id, (one) => (made++, el("li", null, () => one().name))));
    const [a, b, c] = node.children;
    items.set([{ id: 3, name: "C" }, { id: 4, name: "d" }, { id: 1, name: "a" }]);
    flush();
    equal([words(node), made], [["C", "d", "a"], 4]);
    equal([node.children[0] === c, node.children[2] === a, b.isConnected], [true, true, false]);
    equal(node.firstChild.textContent, "before");
  },

  "a list in any order ends in that order"() {
    const items = signal([0]);
    const node = el("ul", null, list(items, (one) => one, (one) => el("li", null, String(one()))));
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 200; round++) {
      const next = Array.from({ length: 20 }, (_, i) => i).filter(() => random() < 0.6).sort(() => random() - 0.5);
      items.set(next);
      flush();
      equal(words(node), next.map(String));
    }
  },

  "to bring the last one to the front moves only that one"() {
    const items = signal([1, 2, 3, 4]);
    const place = inPage(list(items, (one) => one, (one) => el("input", { value: String(one()) })));
    const moved = /** @type {Node[]} */ ([]);
    const observer = new MutationObserver((all) => all.forEach((one) => moved.push(...one.addedNodes)));
    observer.observe(place, { childList: true });
    const last = place.children[3];
    items.set([4, 1, 2, 3]);
    flush();
    for (const one of observer.takeRecords()) moved.push(...one.addedNodes);
    equal([new Set(moved).size, moved[0] === last], [1, true]);
    place.remove();
  },

  "moving keeps the focus and what is typed"() {
    const items = signal([1, 2, 3]);
    const place = inPage(list(items, (one) => one, () => el("input")));
    const third = /** @type {HTMLInputElement} */ (place.children[2]);
    third.focus();
    third.value = "half";
    items.set([3, 2, 1]);
    flush();
    equal([document.activeElement === third, place.children[0] === third, third.value], [true, true, "half"]);
    place.remove();
  },

  "a key that comes twice is shown once"() {
    const node = el("ul", null, list(() => ["a", "a", "b"], (one) => one, (one) => el("li", null, one())));
    equal(words(node), ["a", "b"]);
  },

  "rows and scopes end with all they made"() {
    const items = signal(["a", "b"]);
    const other = signal(0);
    const ended = /** @type {string[]} */ ([]);
    let runs = 0;
    const [node, dispose] = scope(() => el("ul", null, list(items, (one) => one, (one) => {
      const name = one();
      onDispose(() => void ended.push(name));
      effect(() => {
        other();
        runs++;
      });
      return el("li", null, name);
    })));
    items.set(["b", "c"]);
    flush();
    equal([ended, runs], [["a"], 3]);
    dispose();
    equal(ended, ["a", "b", "c"]);
    other.set(1);
    items.set([]);
    flush();
    equal([runs, words(node)], [3, ["b", "c"]]);
  },

  "a thousand rows change in place"() {
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id, name: "row " + id }));
    const items = signal(rows);
    const node = el("ul", null, list(items, (one) => one.id, (one) => el("li", null, () => one().name)));
    const nodes = [...node.children];
    items.set(rows.map((one) => (one.id % 10 === 0 ? { ...one, name: "changed" } : one)));
    flush();
    equal(nodes.every((one, i) => one === node.children[i]), true);
    equal([node.children[10].textContent, node.children[11].textContent], ["changed", "row 11"]);
  },
};
