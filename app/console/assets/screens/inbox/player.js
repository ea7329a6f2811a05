/** The player of voice messages and other audio: how long it is, where it is, and how fast. */
import { el, onDispose, signal } from "../../dom.js";
import { icon } from "../../parts/basics.js";
import { away } from "../../parts/formatted.js";
import { player as text } from "texts/thread.js";

const speeds = [1, 1.5, 2];

/** The speed that was chosen last holds for all, and only one plays at a time. */
const speed = signal(1);
/** @type {HTMLAudioElement | null} */
let playing = null;

/** minutes writes a length in seconds as a clock does. @param {number} seconds */
const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/**
 * player plays a file.
 * @param {string} src
 * @param {string} name of what is played
 * @param {boolean} isVoice
 */
export function player(src, name, isVoice) {
  const isPlaying = signal(false);
  const at = signal(0);
  const length = signal(0);
  const isBroken = signal(false);

  const measure = () => length.set(Number.isFinite(audio.duration) ? audio.duration : 0);
  /** @type {HTMLAudioElement} */
  const audio = el("audio", {
    src,
    preload: "metadata",
    hidden: true,
    ondurationchange: measure,
    ontimeupdate: () => at.set(audio.currentTime),
    onplay: () => {
      if (playing !== audio) playing?.pause();
      playing = audio;
      isPlaying.set(true);
    },
    onpause: () => isPlaying.set(false),
    onended: () => {
      audio.currentTime = 0;
      at.set(0);
    },
    onerror: () => isBroken.set(true),
  });
  onDispose(() => audio.pause());

  const toggle = () => {
    audio.playbackRate = speed.peek();
    if (audio.paused) audio.play().catch(() => {}); // an error is shown, a pause meanwhile is none
    else audio.pause();
  };
  const nextSpeed = () => {
    speed.update((now) => speeds[(speeds.indexOf(now) + 1) % speeds.length]);
    if (playing) playing.playbackRate = speed.peek();
  };
  const seek = (/** @type {any} */ event) => {
    audio.currentTime = Number(event.target.value);
    at.set(audio.currentTime);
  };

  const controls = [
    el("button.button.round", { type: "button", onclick: toggle },
      () => (isPlaying() ? icon("pause") : icon("play")), el("span.unseen", null, () => (isPlaying() ? text.pause : text.play))),
    el("input", {
      type: "range",
      min: 0,
      step: 0.1,
      max: () => length() || 1,
      value: at,
      "aria-label": text.position,
      "aria-valuetext": () => text.at(minutes(at()), minutes(length())),
      oninput: seek,
    }),
    el("span.player-time", { "aria-hidden": "true" }, () => minutes(isPlaying() || at() > 0 ? at() : length())),
    el("button.player-speed", { type: "button", onclick: nextSpeed, "aria-label": () => text.speed(`${speed()}×`) }, () => `${speed()}×`),
  ];
  return el("div.player", { role: "group", "aria-label": name }, audio, isVoice ? icon("mic") : icon("audio"),
    () => (isBroken() ? el("span", null, text.broken + " ", el("a", { href: src, ...away, download: "" }, text.download)) : controls));
}
