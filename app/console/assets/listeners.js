/**
 * listeners are those who are told of something, each until what add returned is called. One that
 * fails keeps neither the others nor who tells them from going on.
 * @template T
 */
export function listeners() {
  /** @type {Set<(value: T) => void>} */
  const all = new Set();
  return {
    /** @param {(value: T) => void} listener */
    add(listener) {
      all.add(listener);
      return () => void all.delete(listener);
    },
    /** @param {T} value */
    call(value) {
      for (const listener of [...all]) {
        try {
          listener(value);
        } catch (error) {
          reportError(error);
        }
      }
    },
  };
}
