// The list of checks, held against what the library offers.

import assert from "node:assert/strict";
import { check, client, reported } from "./harness.mjs";

const internal = ["constructor", "buildCacheKey", "buildHeaders", "buildUrl", "isKapsoProxy"];

const methods = (of) =>
  Object.getOwnPropertyNames(of).filter(
    (name) => typeof of[name] === "function" && !internal.includes(name) && !name.startsWith("__"),
  );

const plain = (value) => value && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;

// offered names every call: those of the client, of its resources, and of the
// groups within a resource.
function offered() {
  const names = methods(Object.getPrototypeOf(client));
  for (const [resource, value] of Object.entries(client)) {
    if (!value || typeof value !== "object") continue;
    names.push(...methods(Object.getPrototypeOf(value)).map((name) => `${resource}.${name}`));
    for (const [group, inner] of Object.entries(value).filter(([, candidate]) => plain(candidate))) {
      names.push(...methods(inner).map((name) => `${resource}.${group}.${name}`));
    }
  }
  return names;
}

export async function coverage() {
  await check("every call of the library", () => {
    const made = new Set(reported.map((name) => name.split(":")[0]));
    const names = offered();
    assert.ok(names.length > 60, `only ${names.length} calls were found`);
    assert.deepEqual(names.filter((name) => !made.has(name)), []);
  });
}
