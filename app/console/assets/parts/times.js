/** Times as forms have them, and those that lie ahead and are often chosen. */
import { presentTime } from "../session.js";

/** fieldTime is a time as a field for one has it. @param {number} at */
export const fieldTime = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** morning is nine o'clock some days from now. @param {number} days */
export function morning(days) {
  const at = new Date(presentTime());
  at.setDate(at.getDate() + days);
  at.setHours(9, 0, 0, 0);
  return at;
}

/** nextMonday is the morning of the next Monday, which today is not. */
export const nextMonday = () => morning(((8 - new Date(presentTime()).getDay()) % 7) || 7);
