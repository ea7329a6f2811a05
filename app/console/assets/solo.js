/** Where the phone begins that a simulator offers: the screen, without a console around it. */
import { connectionBar, toastRegion } from "./parts/notices.js";
import { start } from "./router.js";
import phone from "./screens/phone.js";
import { applyTheme } from "./session.js";

const route = { pattern: "phone", load: async () => phone };
const main = /** @type {HTMLElement} */ (document.getElementById("main"));

applyTheme();
main.before(connectionBar());
document.body.append(toastRegion());
start((path) => {
  const [first, id = ""] = path.split("/");
  return first === "phone" ? { route, params: { id } } : { redirect: "phone" };
}, main);
