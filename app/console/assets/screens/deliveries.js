export { default } from "./soon.js";
