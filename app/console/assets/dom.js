/**
 * Elements, lists and state: the ground of every screen.
 *
 * State is held in signals. An effect that reads a signal is run again when it
 * changes: not at once, but together with all others that have to, in the next microtask,
 * those that were made first before those that were made inside them.
 *
 * Elements are built once, by el. What may change is given as a function, and becomes an
 * effect: an attribute, a piece of text, a part of the tree. Lists keep the elements of
 * items that stay, by their keys, so that focus, scroll positions and half-typed text stay
 * with them. There is no comparing of trees.
 *
 * Everything made belongs to a scope: the screen, the row, the run of an effect in which it
 * is made. When that ends, its effects end with it, and onDispose is called.
 *
 * Everything reaches the page as text or as an attribute, never as markup; links lead to
 * schemes that are safe. That holds for everything strangers write.
 */

/**
 * @typedef {{ parts: Set<() => void>, ended: boolean }} Scope
 * @typedef {Scope & { order: number, run: () => void, sources: Set<Set<Reaction>> }} Reaction
 */

/**
 * @template T
 * @typedef {(() => T) & { set: (next: T) => void, update: (change: (before: T) => T) => void, peek: () => T }} Signal
 */

/**
 * @typedef {Node | string | number | boolean | null | undefined | { mount: (parent: Node) => void } | (() => Child) | Child[]} Child
 * @typedef {Record<string, any>} Props
 */

/** @type {Scope | null} */
let owner = null;
/** @type {Reaction | null} */
let reader = null;
/** @type {Set<Reaction>} */
const waiting = new Set();
let made = 0;

/**
 * signal holds a value. Calling it reads the value, and makes the effect that runs depend
 * on it.
 * @template T
 * @param {T} value
 * @returns {Signal<T>}
 */
export function signal(value) {
  /** @type {Set<Reaction>} */
  const readers = new Set();
  const read = () => {
    if (reader) {
      readers.add(reader);
      reader.sources.add(readers);
    }
    return value;
  };
  read.peek = () => value;
  read.set = (/** @type {T} */ next) => {
    if (Object.is(next, value)) return;
    value = next;
    for (const reaction of readers) {
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.add(reaction);
    }
  };
  read.update = (/** @type {(before: T) => T} */ change) => read.set(change(value));
  return read;
}

/**
 * flush runs the effects that wait. Tests, and those who want to focus an element about to
 * appear, need not wait for the microtask.
 */
export function flush() {
  for (let round = 0; waiting.size > 0; round++) {
    if (round > 100) {
      waiting.clear();
      throw new Error("effects change what they read, again and again");
    }
    const batch = [...waiting].sort((a, b) => a.order - b.order);
    for (const reaction of batch) {
      if (waiting.delete(reaction) && !reaction.ended) reaction.run();
    }
  }
}

/** @param {Scope} scope */
function end(scope) {
  const parts = [...scope.parts];
  scope.parts.clear();
  for (const part of parts) part();
}

/**
 * within runs fn as part of a scope.
 * @template T
 * @param {Scope | null} scope
 * @param {Reaction | null} reaction
 * @param {() => T} fn
 */
function within(scope, reaction, fn) {
  const before = { owner, reader };
  owner = scope;
  reader = reaction;
  try {
    return fn();
  } finally {
    owner = before.owner;
    reader = before.reader;
  }
}

/**
 * scope runs fn, and returns what it returned and a function that ends all that it made.
 * @template T
 * @param {() => T} fn
 * @returns {[T, () => void]}
 */
export function scope(fn) {
  /** @type {Scope} */
  const own = { parts: new Set(), ended: false };
  const parent = owner;
  const dispose = () => {
    parent?.parts.delete(dispose);
    own.ended = true;
    end(own);
  };
  parent?.parts.add(dispose);
  return [within(own, null, fn), dispose];
}

/**
 * onDispose calls fn when the scope that is current now ends.
 * @param {() => void} fn
 */
export function onDispose(fn) {
  owner?.parts.add(fn);
}

/**
 * effect runs fn now, and again whenever a signal that it read has changed.
 * @param {() => void} fn
 */
export function effect(fn) {
  /** @type {Reaction} */
  const reaction = {
    parts: new Set(),
    ended: false,
    order: made++,
    sources: new Set(),
    run() {
      end(reaction);
      for (const readers of reaction.sources) readers.delete(reaction);
      reaction.sources.clear();
      try {
        within(reaction, reaction, fn);
      } catch (error) {
        reportError(error); // the others go on
      }
    },
  };
  onDispose(() => {
    reaction.ended = true;
    end(reaction);
    for (const readers of reaction.sources) readers.delete(reaction);
  });
  reaction.run();
}

/**
 * computed is a signal whose value follows from others.
 * @template T
 * @param {() => T} fn
 * @returns {() => T}
 */
export function computed(fn) {
  const value = signal(/** @type {T} */ (/** @type {unknown} */ (undefined)));
  effect(() => value.set(fn()));
  return value;
}

/**
 * untracked runs fn without depending on what it reads.
 * @template T
 * @param {() => T} fn
 * @returns {T}
 */
export function untracked(fn) {
  return within(owner, null, fn);
}

/**
 * when shows one thing while test is true, and another, or nothing, while it is not. What
 * is shown is built again only when the answer changes.
 * @param {() => unknown} test
 * @param {() => Child} build
 * @param {() => Child} [otherwise]
 * @returns {() => Child}
 */
export function when(test, build, otherwise) {
  const answer = computed(() => Boolean(test()));
  return () => (answer() ? untracked(build) : otherwise && untracked(otherwise));
}

// Properties that an attribute would only give their first value.
const properties = new Set(["value", "checked", "indeterminate", "selected"]);
const links = new Set(["href", "src", "action"]);
const safeSchemes = new Set(["http:", "https:", "mailto:", "tel:", "blob:"]);

/**
 * set sets an attribute. null, undefined and false take it away, but for aria-*, where
 * false is a value.
 * @param {Element} node
 * @param {string} name
 * @param {any} value
 */
function set(node, name, value) {
  if (properties.has(name)) {
    /** @type {any} */ (node)[name] = value ?? "";
    return;
  }
  if (links.has(name) && value != null && !isSafe(String(value))) value = null;

  if (value == null || (value === false && !name.startsWith("aria-"))) node.removeAttribute(name);
  else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
}

/**
 * isSafe reports whether a link may be followed: javascript: and its like may not.
 * @param {string} link
 */
export function isSafe(link) {
  try {
    return safeSchemes.has(new URL(link, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/**
 * el builds an element. The tag may carry classes: "p.hint". Properties that begin with
 * on are listeners, ref gets the element, functions are effects, and all others are
 * attributes.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {any}
 */
export function el(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return fill(document.createElement(name), classes, props, children);
}

/**
 * svg builds an element of a drawing, as el does.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), classes, props, children);
}

/** staying is a listener of a form, which is sent by it and leads nowhere. @param {(event: Event) => void} listener */
const staying = (listener) => (/** @type {Event} */ event) => {
  event.preventDefault();
  listener(event);
};

/**
 * @template {Element} E
 * @param {E} node
 * @param {string[]} classes
 * @param {Props | null | undefined} props
 * @param {Child[]} children
 * @returns {E}
 */
function fill(node, classes, props, children) {
  if (classes.length > 0) node.setAttribute("class", classes.join(" "));
  append(node, children); // first: a select's value must be one of its options

  for (const [name, value] of Object.entries(props ?? {})) {
    if (name === "ref") value?.(node);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), name === "onsubmit" ? staying(value) : value);
    else if (typeof value === "function") effect(() => set(node, name, value()));
    else set(node, name, value);
  }
  return node;
}

/**
 * append adds children to an element.
 * @param {Node} parent
 * @param {Child} child
 */
export function append(parent, child) {
  if (child == null || typeof child === "boolean") return;
  if (Array.isArray(child)) child.forEach((one) => append(parent, one));
  else if (typeof child === "function") region(parent, child);
  else if (child instanceof Node) parent.appendChild(child);
  else if (typeof child === "object") child.mount(parent);
  else parent.appendChild(document.createTextNode(String(child)));
}

/**
 * region is a part of the tree that is built again when what it reads changes. Text that
 * stays text keeps its node. Two empty texts mark where it begins and ends, because what
 * is inside may grow by itself.
 * @param {Node} parent
 * @param {() => Child} build
 */
function region(parent, build) {
  const first = parent.appendChild(document.createTextNode(""));
  const last = parent.appendChild(document.createTextNode(""));
  effect(() => {
    const child = build();
    const text = first.nextSibling;
    if (typeof child === "string" && text instanceof Text && text !== last && text.nextSibling === last) {
      text.data = child;
      return;
    }
    while (first.nextSibling !== last) first.nextSibling?.remove();
    const fresh = document.createDocumentFragment();
    append(fresh, child);
    last.before(fresh);
  });
}

/**
 * list shows an element for each item. An item whose key was there before keeps its
 * element, and gets its new value; render gets the item as a signal.
 * @template T
 * @param {() => readonly T[]} items
 * @param {(item: T) => string | number} key
 * @param {(item: () => T) => ChildNode} render
 */
export function list(items, key, render) {
  return {
    /** @param {Node} parent */
    mount(parent) {
      const mark = parent.appendChild(document.createTextNode(""));
      /** @type {Map<string | number, { node: ChildNode, item: Signal<T>, dispose: () => void }>} */
      let rows = new Map();
      onDispose(() => rows.forEach((row) => row.dispose()));

      effect(() => {
        const now = items();
        const next = /** @type {typeof rows} */ (new Map());
        for (const item of now) {
          const id = key(item);
          if (next.has(id)) continue; // shown once
          const row = rows.get(id);
          if (row) row.item.set(item);
          next.set(id, row ?? within(null, null, () => {
            const value = signal(item);
            const [node, dispose] = scope(() => render(value));
            return { node, item: value, dispose };
          }));
        }
        let near = /** @type {any} */ (null); // to what had the focus
        for (const [id, { node, dispose }] of rows) {
          if (next.has(id)) continue;
          if (node.contains(document.activeElement)) near = node.nextSibling ?? node.previousSibling;
          dispose();
          node.remove();
        }
        rows = next;
        arrange(mark, [...rows.values()].map((row) => row.node));
        near?.focus?.();
        near?.querySelector?.("a, button")?.focus({ preventScroll: true });
      });
    },
  };
}

/**
 * arrange puts nodes after a mark, in their order, moves only those that are not in place, and keeps the focus.
 * @param {ChildNode} mark
 * @param {ChildNode[]} nodes
 */
function arrange(mark, nodes) {
  const parent = /** @type {any} */ (mark.parentNode);
  const focused = /** @type {any} */ (document.activeElement);
  let before = mark;
  for (const node of nodes) {
    const place = before.nextSibling;
    if (place !== node) {
      if (parent.moveBefore && node.isConnected && parent.isConnected) parent.moveBefore(node, place);
      else parent.insertBefore(node, place);
    }
    before = node;
  }
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}
