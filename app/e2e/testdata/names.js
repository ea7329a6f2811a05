// What a page has, by role and accessible name, as assistive technology knows it: roles and names are
// worked out as HTML-AAM and accname say, as far as our pages go. To ask the browser for them
// takes ten times as long, and from then on each change of the page takes a quarter more.
// namesAgree holds this against the browser's own tree.
(() => {
  const selectors = {
    button: "button:not([role]), input[type=submit], input[type=file], [role=button]",
    link: "a[href]:not([role]), [role=link]",
    heading: "h1, h2, h3, h4, h5, h6",
    textbox: "input:is(:not([type]), [type=text], [type=email], [type=tel], [type=url], [type=password]):not([list], [role]), textarea:not([role]), [role=textbox]",
    searchbox: "input[type=search]:not([list], [role])",
    combobox: "select:not([multiple], [role]), input[list]:not([role]), [role=combobox]",
    checkbox: "input[type=checkbox]:not([role])",
    switch: "[role=switch]",
    radio: "input[type=radio]:not([role]), [role=radio]",
    tab: "[role=tab]",
    menuitem: "[role=menuitem]",
    menuitemcheckbox: "[role=menuitemcheckbox]",
    menuitemradio: "[role=menuitemradio]",
    dialog: "dialog:not([role]), [role=dialog]",
    region: "section:is([aria-label], [aria-labelledby]):not([role]), [role=region]",
    group: "fieldset:not([role]), [role=group]",
  };
  const namedByContent = new Set(["button", "link", "heading", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "radio", "switch"]);

  const isShown = (e) => e.checkVisibility({ visibilityProperty: true });

  // What lies behind an open dialog cannot be reached, but what is shown above it can.
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const isKnown = (e) => isShown(e) && !e.closest("[aria-hidden=true], [inert]") && (!dialog || dialog.contains(e));

  const textOf = (e) => [...e.childNodes].map((child) => {
    if (child.nodeType === Node.TEXT_NODE) return child.data;
    if (child.nodeType !== Node.ELEMENT_NODE || !isShown(child) || child.ariaHidden === "true") return "";
    const text = child.ariaLabel || child.alt || (child.tagName === "svg" ? child.querySelector("title")?.textContent ?? "" : textOf(child));
    return getComputedStyle(child).display.startsWith("inline") ? text : " " + text + " ";
  }).join("");

  const nameOf = (e, byContent) => {
    const labelledby = (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => id && document.getElementById(id)).filter(Boolean);
    const sources = [
      () => labelledby.map((one) => one.ariaLabel || textOf(one)).join(" "),
      () => e.ariaLabel,
      () => [...(e.labels ?? [])].map(textOf).join(" "),
      () => e.tagName === "FIELDSET" && e.querySelector("legend") && textOf(e.querySelector("legend")),
      () => byContent && textOf(e),
      () => e.title,
      () => e.placeholder,
    ];
    for (const source of sources) {
      const name = (source() || "").replace(/\s+/g, " ").trim();
      if (name) return name;
    }
    return "";
  };

  const all = (role) => [...document.querySelectorAll(selectors[role])].filter(isKnown).map((e) => [e, nameOf(e, namedByContent.has(role))]);
  return {
    roles: Object.keys(selectors),
    knows: (role) => role in selectors,
    // All of them. A group without a name is a part of something, and nothing to be found.
    list: () => Object.keys(selectors).flatMap((role) => all(role).map(([, name]) => `${role} "${name}"`)).filter((one) => one !== 'group ""'),
    // The only one with a role and a name, or how many there are.
    only(role, name) {
      const found = all(role).filter(([, its]) => its === name);
      return found.length === 1 ? found[0][0] : found.length;
    },
  };
})()
