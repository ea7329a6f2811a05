/** {{name}}, {{first_name}} and their fallbacks, as in {{first_name|there}}. */

/** isNumber reports whether a name is none, but a phone number. @param {string} name */
const isNumber = (name) => /\p{Nd}/u.test(name) && /^[\p{Nd}\s+().-]*$/u.test(name);

/**
 * fillName puts the name of a person where a text has a place for it. Without a name and a
 * fallback the place is left out, with the space before it.
 * @param {string} written
 * @param {string} name
 */
export function fillName(written, name) {
  const whole = isNumber(name) ? "" : name.trim();
  const [first] = whole.split(/\s+/);
  return written.replace(/(\s?)\{\{\s*(name|first_name)\s*(?:\|([^{}]*))?\}\}/g, (_, space, field, fallback = "") => {
    const value = (field === "name" ? whole : first) || fallback.trim();
    return value && space + value;
  });
}
