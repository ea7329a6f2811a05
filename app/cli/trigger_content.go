package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// content is the content of a message, as flags give it.
type content struct {
	kind                           string
	text, caption                  string
	link, file, filename, mimeType string
	voice                          bool
	latitude, longitude            float64
	buttonID, title                string
	emoji, message, context        string
	code                           int
	raw                            map[string]any
}

func (m *content) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	parsedFlag(cmd, &m.kind, "type", "`type` of the message (default: inferred from the other flags, or text)", parseKind)
	flags.StringVar(&m.text, "text", m.text, "`text` of the message")

	flags.StringVar(&m.link, "link", "", "`URL` of an image, video, audio, document or sticker")
	flags.StringVar(&m.file, "file", "", "`path` of an image, video, audio, document or sticker on this machine")
	flags.StringVar(&m.filename, "filename", "", "`name` of a document (default: the file's)")
	flags.StringVar(&m.mimeType, "mime-type", "", "`type` of the file (default: detected from its content)")
	flags.StringVar(&m.caption, "caption", "", "`text` under an image, video or document")
	flags.BoolVar(&m.voice, "voice", false, "the audio is a voice message")

	flags.Float64Var(&m.latitude, "latitude", 52.5163, "`degrees` of a location")
	flags.Float64Var(&m.longitude, "longitude", 13.3777, "`degrees` of a location")
	flags.StringVar(&m.buttonID, "button-id", "yes", "`id` of the chosen button or list row, or the payload of a template button")
	flags.StringVar(&m.title, "title", "Yes", "`text` on the button or list row")
	flags.StringVar(&m.emoji, "emoji", "👍", "`emoji` of a reaction; '' removes it")
	flags.StringVar(&m.message, "message", "", "`id` of the message reacted to, edited or revoked (default: the latest)")
	flags.StringVar(&m.context, "context", "", "`id` of the message to reply to")
	flags.IntVar(&m.code, "code", 0, "provider's error `code` in an unsupported message (default 131051)")

	parsedFlag(cmd, &m.raw, "content", "`JSON` object with fields of the message as in the provider's callbacks;"+
		" they replace those of other flags", parseObject)
}

// contentKinds makes the content of each kind of message. Those that end in _reply are sent as
// messages of the type interactive.
var contentKinds = map[string]func(*content, *simRequest) (any, error){
	"text": func(m *content, _ *simRequest) (any, error) { return jsonObject{"body": m.text}, nil },

	"image":    (*content).media,
	"video":    (*content).media,
	"audio":    (*content).media,
	"document": (*content).media,
	"sticker":  (*content).media,

	"location": func(m *content, r *simRequest) (any, error) {
		if given := r.cmd.Flags().Changed; given("latitude") != given("longitude") {
			return nil, usage("a location needs both --latitude and --longitude")
		}
		return jsonObject{"latitude": m.latitude, "longitude": m.longitude}, nil
	},

	"button": func(m *content, _ *simRequest) (any, error) {
		return jsonObject{"payload": m.buttonID, "text": m.title}, nil
	},
	"button_reply": (*content).choice,
	"list_reply":   (*content).choice,

	"reaction":    (*content).reaction,
	"edit":        (*content).correction,
	"revoke":      (*content).correction,
	"unsupported": sample(nil), // which has no content

	"contacts": sample([]jsonObject{{
		"name":   jsonObject{"formatted_name": "Bo Lind", "first_name": "Bo", "last_name": "Lind"},
		"phones": []jsonObject{{"phone": "+1 555-000-2222", "wa_id": "15550002222", "type": "CELL"}},
	}}),
	"nfm_reply": sample(jsonObject{"type": "nfm_reply", "nfm_reply": jsonObject{
		"name": "flow", "body": "Sent", "response_json": `{"flow_token": "unused"}`,
	}}),
	"order": sample(jsonObject{"catalog_id": "194836987003835", "text": "Gift wrapping, please", "product_items": []jsonObject{
		{"product_retailer_id": "tea-green-100", "quantity": 2, "item_price": 7.5, "currency": "USD"},
	}}),
	"system": sample(jsonObject{
		"type":  "user_changed_number",
		"body":  samplePersonName + " changed from 15550001111 to 15550002222",
		"wa_id": "15550002222",
	}),
}

// sample is content that no flag changes.
func sample(made any) func(*content, *simRequest) (any, error) {
	return func(*content, *simRequest) (any, error) { return made, nil }
}

func (m *content) choice(*simRequest) (any, error) {
	return jsonObject{"type": m.kind, m.kind: jsonObject{"id": m.buttonID, "title": m.title}}, nil
}

func isKind(s string) bool { return contentKinds[s] != nil }

func parseKind(s string) (string, error) {
	if !isKind(s) && s != "interactive" {
		return "", errors.New("is not a type that 'confab trigger inbound --help' lists")
	}
	return s, nil
}

func parseObject(s string) (object map[string]any, err error) {
	if err := json.Unmarshal([]byte(s), &object); err != nil || object == nil {
		return nil, errors.New("must be a JSON object, such as '{\"text\": {\"body\": \"hi\"}}'")
	}
	return object, nil
}

// complete adds the content to a call. What --content has is copied over what other flags made of
// it; the fields that flags gave win.
func (m *content) complete(r *simRequest) error {
	if err := m.inferKind(r.cmd); err != nil {
		return err
	}

	body := map[string]any{"type": m.kind}
	if build := contentKinds[m.kind]; build != nil && m.raw[m.kind] == nil {
		made, err := build(m, r)
		if err != nil {
			return err
		}

		if strings.HasSuffix(m.kind, "_reply") {
			body["type"] = "interactive"
		}
		if made != nil {
			body[body["type"].(string)] = made
		}
	}

	// Any kind of message may be a reply; the press of a button is always part of a message.
	var err error
	if pressed := m.kind == "button" || strings.HasSuffix(m.kind, "_reply"); pressed && m.context == "" {
		m.context, err = r.latestSend(r.cmd.Context())
	}
	if m.context != "" {
		body["context"] = jsonObject{"message_id": m.context}
	}
	if m.code != 0 {
		body["error_code"] = m.code
	}

	maps.Copy(body, m.raw)
	maps.Copy(body, r.fields)
	r.fields = body
	return err
}

// inferKind sets the type of a message for which --type is not given: that of
// --content, or the one that the flags given belong to.
func (m *content) inferKind(cmd *cobra.Command) (err error) {
	given := cmd.Flags().Changed
	if kind, ok := m.raw["type"].(string); ok && m.kind == "" {
		m.kind = kind
	}

	for kind := range m.raw {
		if m.kind == "" && (isKind(kind) || kind == "interactive") {
			m.kind = kind
		}
	}

	switch {
	case m.kind != "":
	case m.link != "" || m.file != "":
		m.kind, err = m.mediaKind()
	case given("latitude") || given("longitude"):
		m.kind = "location"
	case given("emoji") || given("message"):
		m.kind = "reaction"
	case given("button-id") || given("title"):
		m.kind = "button_reply"
	case given("code"):
		m.kind = "unsupported"
	default:
		m.kind = "text"
	}
	return err
}

func (m *content) reaction(r *simRequest) (made any, err error) {
	to := m.message
	if to == "" {
		to, err = r.latestSend(r.cmd.Context())
	}
	if err == nil && to == "" {
		err = errors.New("there is no sent message to react to: choose one with --message")
	}
	return jsonObject{"message_id": to, "emoji": m.emoji}, err
}

// correction is the content of an edit or a revoke.
func (m *content) correction(r *simRequest) (made any, err error) {
	id := m.message
	if id == "" {
		id, err = r.latestInbound(r.cmd.Context())
	}
	body := jsonObject{"original_message_id": id}
	if m.kind == "edit" {
		body["message"] = jsonObject{"type": "text", "text": jsonObject{"body": m.text}}
	}
	return body, err
}

func inboundMessage() simCommand {
	content := &content{text: sampleGreeting}
	kinds := slices.Sorted(maps.Keys(contentKinds))
	half := len(kinds) / 2

	return simCommand{
		use:   "inbound",
		short: "Send a message from a person to the business number",
		long: "Send a message from a person to the business number, and print its id. Without flags, " + samplePersonName + "\n" +
			"(" + samplePerson + ") sends \"" + sampleGreeting + "\". The type is inferred from the other flags if not set;\n" +
			"every type has sample content.\n\n" +
			"Types: " + strings.Join(kinds[:half], ", ") + ",\n" + strings.Join(kinds[half:], ", ") + ".",
		example: "  confab trigger inbound\n" +
			"  confab trigger inbound --text 'Where is my order?' --from +15550002222 --name 'Bo Lind'\n" +
			"  confab trigger inbound --file photo.jpg --caption 'It is broken'\n" +
			"  confab trigger inbound --button-id yes --title 'Yes, please'\n" +
			"  confab trigger inbound --emoji ❤️\n" +
			"  confab trigger inbound --latitude 48.8584 --longitude 2.2945\n" +
			"  confab trigger inbound --type unsupported --code 131060\n" +
			"  confab trigger inbound --content '{\"text\": {\"body\": \"hi\"}, \"referral\": {\"source_type\": \"ad\"}}'",

		flags: []simFlag{
			{name: "from", usage: "`number` of the person (default " + samplePerson + ")"},
			{name: "bsuid", usage: "business-scoped user `id` of the person; without --from their number is hidden"},
			{name: "name", usage: "`name` of the person"},
			{name: "username", usage: "`username` of the person"},
			{name: "phone-number-id", usage: "`id` of the business number that receives it (default: the first)"},
		},
		addFlags: content.addFlags,
		call:     "POST /_sim/inbound",
		complete: func(r *simRequest) error {
			err := content.complete(r)
			if r.fields["from"] == nil && r.fields["bsuid"] == nil { // neither by flags nor by --content
				r.fields["from"] = samplePerson
				r.fields["name"] = cmp.Or(r.fields["name"], any(samplePersonName))
			}
			return err
		},
		print: printField("id"),
	}
}

func echo() simCommand {
	content := &content{text: "Sent from the phone"}

	return simCommand{
		use:   "echo",
		short: "Send a message to a person from the business's phone",
		long: "Send a message to a person from the app on the business's phone: your system gets a callback, an echo. The\n" +
			"content flags are those of 'confab trigger inbound'.",
		example: "  confab trigger echo\n  confab trigger echo --to +15550002222 --text 'I will call you back'",

		flags: []simFlag{
			{name: "to", usage: "`number` or BSUID of the person (default \"" + samplePerson + "\")", initial: samplePerson},
			{name: "phone-number-id", usage: "`id` of the business number (default: the first)"},
		},
		addFlags: content.addFlags,
		call:     "POST /_sim/echo",
		complete: content.complete,
		print:    printField("id"),
	}
}
