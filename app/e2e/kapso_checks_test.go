package e2e

// kapsoChecks are the checks that the script must report: by name of the call,
// with the circumstances after a colon.
var kapsoChecks = []string{
	"request: app subscription", "fetch", "rawFetch", "request: resumable upload",
	"request: template by its own id", "request: number", "request: numbers by pages",
	"request: subscribed apps", "request: other version", "every call of the library",

	"messages.sendText", "messages.sendText: to a user id", "messages.sendText: to a number and a user id",
	"messages.sendImage", "messages.sendImage: by link", "messages.sendAudio", "messages.sendAudio: by link",
	"messages.sendDocument", "messages.sendDocument: by link", "messages.sendVideo",
	"messages.sendVideo: by link", "messages.sendSticker", "messages.sendSticker: by link",
	"messages.sendLocation", "messages.sendContacts", "messages.sendReaction",
	"messages.sendReaction: taken back", "messages.markRead", "messages.markRead: typing",
	"messages.markRead: unknown message", "messages.sendRaw", "messages.sendInteractiveButtons",
	"messages.sendInteractiveButtons: image", "messages.sendInteractiveButtons: video",
	"messages.sendInteractiveButtons: document", "messages.sendInteractiveList",
	"messages.sendInteractiveCtaUrl", "messages.sendInteractiveLocationRequest", "messages.sendInteractiveFlow",
	"messages.sendInteractiveProduct", "messages.sendInteractiveProductList",
	"messages.sendInteractiveCatalogMessage", "messages.sendInteractiveAddress",
	"messages.sendInteractiveCallPermission", "messages.sendInteractiveCarousel", "messages.sendInteractiveRaw",
	"messages.sendTemplate: buildTemplateSendPayload: positions",
	"messages.sendTemplate: buildTemplateSendPayload: names",
	"messages.sendTemplate: buildTemplateSendPayload: authentication",
	"messages.sendTemplate: buildTemplateSendPayload: cards",
	"messages.sendTemplate: buildTemplatePayload: media", "messages.sendTemplate: buildTemplatePayload: place",
	"messages.sendTemplate: plain components", "messages.sendTemplate: unknown",
	"messages.sendTemplate: without parameters",

	"media.upload", "media.upload: without a file name", "media.upload: buffer", "media.upload: view",
	"media.upload: file", "media.upload: resumable", "media.upload: kind instead of a content type",
	"media.upload: refused type", "media.get", "media.get: of its number", "media.get: of another number",
	"media.download", "media.download: blob", "media.download: part", "media.download: without a token",
	"media.delete", "media.delete: other token",

	"templates.create: order", "templates.create: named", "templates.create: code", "templates.create: media",
	"templates.create: place", "templates.create: offer", "templates.create: cards", "templates.create: shop",
	"templates.create: survey", "templates.create: twice", "templates.create: malformed", "templates.get",
	"templates.get: fields", "templates.get: unknown", "templates.list", "templates.list: by name named",
	"templates.list: by status APPROVED", "templates.list: by status REJECTED",
	"templates.list: by category AUTHENTICATION", "templates.list: by language de",
	"templates.list: pages forward", "templates.list: pages back", "templates.list: bad cursor",
	"templates.delete", "templates.delete: language", "templates.delete: unknown",

	"phoneNumbers.register: not verified", "phoneNumbers.requestCode", "phoneNumbers.verifyCode: wrong",
	"phoneNumbers.verifyCode", "phoneNumbers.requestCode: verified already", "phoneNumbers.register",
	"phoneNumbers.register: other PIN", "phoneNumbers.register: malformed PIN", "phoneNumbers.deregister",
	"phoneNumbers.businessProfile.update", "phoneNumbers.businessProfile.get",
	"phoneNumbers.businessProfile.get: fields", "phoneNumbers.businessProfile.update: refused",

	"verifySignature", "normalizeWebhook: text", "normalizeWebhook: user without a number",
	"normalizeWebhook: button", "normalizeWebhook: interactive", "normalizeWebhook: interactive: flow",
	"normalizeWebhook: order", "normalizeWebhook: location", "normalizeWebhook: contacts",
	"normalizeWebhook: reaction", "normalizeWebhook: unsupported", "normalizeWebhook: image",
	"normalizeWebhook: status", "normalizeWebhook: echo", "normalizeWebhook: template review",
	"normalizeWebhook: preferences", "normalizeWebhook: identity", "normalizeWebhook: failed with 131026",
	"normalizeWebhook: failed with 131047",

	"GraphApiError: 4", "GraphApiError: 10", "GraphApiError: 190", "GraphApiError: 368", "GraphApiError: 80007",
	"GraphApiError: 130429", "GraphApiError: 131000", "GraphApiError: 131030", "GraphApiError: 131031",
	"GraphApiError: 131056", "GraphApiError: 132001", "GraphApiError: 132015", "GraphApiError: 133010",
	"GraphApiError: garbage token", "GraphApiError: expired token", "GraphApiError: unknown object",
	"GraphApiError: rate limit", "GraphApiError: server error", "GraphApiError: not after a hang-up",

	// Not played: the simulator must say so.
	"calls.connect", "calls.preAccept", "calls.accept", "calls.reject", "calls.terminate",
	"calls.permissions.get", "phoneNumbers.settings.get", "phoneNumbers.settings.update", "flows.create",
	"flows.list", "flows.deploy", "flows.updateAsset", "flows.publish", "flows.deprecate", "flows.preview",
	"flows.get",

	// Only on the vendor's own proxy: the library must say so.
	"messages.query", "messages.get", "messages.listByConversation", "conversations.list", "conversations.get",
	"conversations.updateStatus", "contacts.list", "contacts.get", "contacts.update", "calls.list", "calls.get",
}

// notOffered is what the gateway says to what it does not pass on.
const notOffered = "API Unknown"

// kapsoDiffers are the checks that must fail through the gateway, and with which words.
var kapsoDiffers = map[string]string{
	"phoneNumbers.register: not verified": notOffered, "phoneNumbers.requestCode": notOffered, "phoneNumbers.verifyCode: wrong": notOffered,
	"phoneNumbers.verifyCode": "ZodError", "phoneNumbers.requestCode: verified already": notOffered, "phoneNumbers.register": notOffered,
	"phoneNumbers.register: other PIN": notOffered, "phoneNumbers.register: malformed PIN": notOffered, "phoneNumbers.deregister": notOffered,
	"phoneNumbers.businessProfile.update": notOffered, "phoneNumbers.businessProfile.get": notOffered,
	"phoneNumbers.businessProfile.get: fields": notOffered, "phoneNumbers.businessProfile.update: refused": notOffered,
	"phoneNumbers.settings.get": notOffered, "phoneNumbers.settings.update": notOffered, "calls.connect": notOffered,
	"calls.preAccept": notOffered, "calls.accept": notOffered, "calls.reject": notOffered, "calls.terminate": notOffered,
	"calls.permissions.get": notOffered, "flows.create": notOffered, "flows.list": notOffered, "flows.deploy": notOffered,
	"flows.updateAsset": notOffered, "flows.publish": notOffered, "flows.deprecate": notOffered,

	"media.download: part":               "206",       // the whole file comes
	"media.download: without a token":    "image/png", // it always needs it, as the contract says
	"request: other version":             "v25.0",
	"GraphApiError: expired token":       "463",                        // a key of ours has no subcode
	"GraphApiError: not after a hang-up": "Missing expected rejection", // a callback tells the id
}
