/**
 * Calls of the server. Every answer is an envelope: what was asked for, or an error with a
 * code, a message, often the field that is wrong, and the id of the request.
 */
import { root, signInAgain } from "./session.js";
import { reportAnswer } from "./live.js";
import { server as text } from "texts/parts.js";

/** APIError is what a call throws when it did not do what was asked. */
export class APIError extends Error {
  /**
   * @param {string} message
   * @param {{ status?: number, code?: string, param?: string | null, requestID?: string | null }} more
   */
  constructor(message, { status = 0, code = "", param = null, requestID = null } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.requestID = requestID;
  }

  /** Whether it is unknown if the server got the request. */
  get lost() {
    return this.status === 0;
  }
}

/** lost is the error of a call that was not answered. */
export const lost = () => new APIError(text.network, { code: "network" });

/** When each thing that the server returned was asked for. @type {WeakMap<any, number>} */
const asked = new WeakMap();
let calls = 0;

/**
 * latest is the one of two that was asked for last: of two answers the older may come last,
 * and the times in them are of a clock that can be set.
 * @template T
 * @param {T | undefined} known
 * @param {T} came
 */
export const latest = (known, came) => (known && (asked.get(known) ?? 0) > (asked.get(came) ?? 0) ? known : came);

/**
 * @typedef {object} Options
 * @property {AbortSignal} [signal] ends the call
 * @property {Record<string, string | number | null | undefined>} [query] filters; empty ones are left out
 * @property {string} [idempotencyKey] so that a repeated POST is done once
 */

/**
 * addressOf is where a request goes.
 * @param {string} path below /console/api/
 * @param {Options["query"]} [query]
 */
export function addressOf(path, query = {}) {
  const url = new URL("api/" + path, root);
  for (const [name, value] of Object.entries(query)) {
    if (value != null && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

/** How often a read is sent that the server has no time for, and the longest pause, in seconds, that it may ask for. */
const mostTries = 3;
const longestPause = 5;

/**
 * call sends a request. The path is below /console/api/. A read that the server puts off is sent
 * again when it says: nobody else would, and the screen would stay as it was.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {Options} [options]
 * @param {number} [tries]
 * @returns {Promise<any>} the envelope
 */
export async function call(method, path, body, options = {}, tries = 1) {
  const { signal, query, idempotencyKey } = options;
  const url = addressOf(path, query);
  /** @type {Record<string, string>} */
  const headers = {};
  const isForm = body instanceof FormData; // the browser says what it is
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;

  const at = ++calls;
  let response;
  try {
    response = await fetch(url, { method, headers, signal, body: isForm ? body : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    reportAnswer(false);
    throw lost();
  }
  reportAnswer(true);
  const pause = Number(response.headers.get("Retry-After"));
  if (method === "GET" && tries < mostTries && pause > 0 && pause <= longestPause) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * pause));
    return call(method, path, body, options, tries + 1);
  }
  const envelope = await readEnvelope(response);
  // Who repeats a POST gets the answer of the first time, which everything else is newer than.
  for (const one of [envelope.data].flat()) if (Object(one) === one) asked.set(one, idempotencyKey ? 0 : at);
  return envelope;
}

/** @param {Response} response */
async function readEnvelope(response) {
  const requestID = response.headers.get("X-Request-Id");
  const envelope = await response.json().catch(() => null);
  if (response.ok && envelope) return envelope;

  const error = envelope?.error;
  if (error?.code === "session_required") signInAgain();
  if (error?.code === "second_factor_required") location.assign(new URL("second-factor", root));
  throw new APIError(error?.message ?? text.unreadable, {
    status: response.status,
    code: error?.code ?? "unreadable",
    param: error?.param,
    requestID: envelope?.request_id ?? requestID,
  });
}

/** @param {string} path @param {Options} [options] */
export const get = async (path, options) => (await call("GET", path, undefined, options)).data;
/** @param {string} path @param {any} [body] @param {Options} [options] */
export const post = async (path, body, options) => (await call("POST", path, body, options)).data;
/** @param {string} path @param {any} body @param {Options} [options] */
export const put = async (path, body, options) => (await call("PUT", path, body, options)).data;
/** @param {string} path @param {any} body @param {Options} [options] */
export const patch = async (path, body, options) => (await call("PATCH", path, body, options)).data;
/** @param {string} path @param {Options} [options] */
export const remove = async (path, options) => (await call("DELETE", path, undefined, options)).data;

/**
 * page reads one page of a list.
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<{ rows: any[], cursor: string | null }>} cursor leads to the next page
 */
export async function page(path, options) {
  const envelope = await call("GET", path, undefined, options);
  return { rows: envelope.data, cursor: envelope.has_more ? envelope.next_cursor : null };
}

/** newKey is a fresh idempotency key. It needs no secure context, as randomUUID would. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
