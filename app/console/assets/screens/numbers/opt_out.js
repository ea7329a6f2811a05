/** The words by which people stop and resume marketing messages from a number. */
import { put } from "../../api.js";
import { section, splitWords } from "../../parts/basics.js";
import { form } from "../../parts/form.js";
import { toast } from "../../parts/notices.js";
import { loaded, resource } from "../../parts/states.js";
import { optOut as text } from "texts/numbers.js";

/** optOutSection sets the words of a number. @param {string} id */
export function optOutSection(id) {
  const path = `v1/${id}/opt_out`;
  const all = resource(path);
  const area = { type: "textarea", props: { rows: 3, dir: "auto" } };
  const reply = { type: "textarea", optional: true, props: { rows: 2, maxlength: 4096, dir: "auto" } };
  return section(text.title, { lead: text.lead }, loaded(all, (now) => form({
    fields: [
      { name: "enabled", label: text.enabled, type: "checks", options: [{ value: "on", label: text.follow }] },
      { name: "stop", label: text.stop, hint: text.wordsHint, required: true, ...area },
      { name: "start", label: text.start, required: true, ...area },
      { name: "stop_reply", label: text.stopReply, ...reply },
      { name: "start_reply", label: text.startReply, ...reply },
    ],
    values: { ...now(), enabled: now().enabled ? "on" : "", stop: now().stop.join(", "), start: now().start.join(", ") },
    submit: text.save,
    send: ({ enabled, stop, start, ...replies }) =>
      put(path, { ...replies, enabled: enabled === "on", stop: splitWords(stop), start: splitWords(start) }),
    done: () => toast(text.saved),
  })));
}
