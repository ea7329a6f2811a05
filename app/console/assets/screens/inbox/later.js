/** What the inbox shows once its list and thread are drawn. */
export { newLabel } from "../settings_labels.js";
export { details } from "./details.js";
export { notifyButton } from "./notify.js";
