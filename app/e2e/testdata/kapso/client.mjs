// Makes every call of @kapso/whatsapp-cloud-api against a running simulator, or
// through our gateway, and prints one line of JSON per check. kapso_test.go starts it.

import * as harness from "./harness.mjs";
import { messages } from "./messages.mjs";
import { interactive } from "./interactive.mjs";
import { media } from "./media.mjs";
import { templates } from "./templates.mjs";
import { numbers } from "./numbers.mjs";
import { webhooks } from "./webhooks.mjs";
import { refusals } from "./refusals.mjs";
import { elsewhere } from "./elsewhere.mjs";
import { coverage } from "./coverage.mjs";

const receiver = await harness.receive();
try {
  await harness.subscribe(receiver);
  await messages();
  await interactive();
  await media();
  await templates(receiver);
  await numbers();
  await webhooks(receiver);
  await refusals(receiver);
  await elsewhere();
  await coverage();
} finally {
  receiver.close();
}
