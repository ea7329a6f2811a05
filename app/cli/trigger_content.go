package cli

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

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

func (m *content) addFlags(cmd *cobra.Command, sample string) {
	flags := cmd.Flags()
	parsedFlag(cmd, &m.kind, "type", "`type` of the message (default: the one that the other flags belong to, or text)", parseKind)
	flags.StringVar(&m.text, "text", sample, "`text` of the message")

	flags.StringVar(&m.link, "link", "", "`URL` of an image, video, audio, document or sticker")
	flags.StringVar(&m.file, "file", "", "`path` of an image, video, audio, document or sticker on this machine")
	flags.StringVar(&m.filename, "filename", "", "`name` of a document (default: that of the file)")
	flags.StringVar(&m.mimeType, "mime-type", "", "`type` of the file (default: detected from its content)")
	flags.StringVar(&m.caption, "caption", "", "`text` under an image, video or document")
	flags.BoolVar(&m.voice, "voice", false, "the audio is a voice message")

	flags.Float64Var(&m.latitude, "latitude", 52.5163, "`degrees` of a location")
	flags.Float64Var(&m.longitude, "longitude", 13.3777, "`degrees` of a location")
	flags.StringVar(&m.buttonID, "button-id", "yes", "`id` of the button or list row that was chosen; the payload of a template's button")
	flags.StringVar(&m.title, "title", "Yes", "`text` on the button or list row")
	flags.StringVar(&m.emoji, "emoji", "👍", "`emoji` of a reaction; '' takes it back")
	flags.StringVar(&m.message, "message", "", "`id` of the message reacted to, edited or revoked (default: the latest)")
	flags.StringVar(&m.context, "context", "", "`id` of the message that this one replies to")
	flags.IntVar(&m.code, "code", 0, "provider's error `code` in an unsupported message (default 131051)")

	parsedFlag(cmd, &m.raw, "content", "`JSON` object with fields of the message as in the provider's callbacks;"+
		" they replace those of other flags", parseObject)
}

// contentMaker makes the content of one kind of message. A nil content is left
// out of the message.
type contentMaker func(m *content, cmd *cobra.Command, c *simulatorClient) (any, error)

// contentMakers has a maker for each kind of message. The kinds that end in _reply
// are sent as messages of the type interactive.
func contentMakers() map[string]contentMaker {
	reply := func(kind string, more jsonObject) contentMaker {
		return func(m *content, _ *cobra.Command, _ *simulatorClient) (any, error) {
			choice := jsonObject{"id": m.buttonID, "title": m.title}
			if more != nil {
				choice = more
			}
			return jsonObject{"type": kind, kind: choice}, nil
		}
	}
	sample := func(v any) contentMaker {
		return func(*content, *cobra.Command, *simulatorClient) (any, error) { return v, nil }

	}
	return map[string]contentMaker{
		"text": func(m *content, _ *cobra.Command, _ *simulatorClient) (any, error) {

			return jsonObject{"body": m.text}, nil
		},
		"image":        (*content).media,
		"video":        (*content).media,
		"audio":        (*content).media,
		"document":     (*content).media,
		"sticker":      (*content).media,
		"location":     (*content).location,
		"contacts":     sample(sampleContacts()),
		"button_reply": reply("button_reply", nil),
		"list_reply":   reply("list_reply", nil),
		"nfm_reply":    reply("nfm_reply", jsonObject{"name": "flow", "body": "Sent", "response_json": `{"flow_token": "unused"}`}),
		"button": func(m *content, _ *cobra.Command, _ *simulatorClient) (any, error) {
			return jsonObject{"payload": m.buttonID, "text": m.title}, nil
		},
		"reaction": (*content).reaction,
		"order":    sample(sampleOrder()),
		"system": sample(jsonObject{
			"type":  "user_changed_number",
			"body":  samplePersonName + " changed from 15550001111 to 15550002222",
			"wa_id": "15550002222",
		}),
		"unsupported": sample(nil),
		"edit":        (*content).edit,
		"revoke":      (*content).revoke,
	}
}

// contentKinds lists the kinds in alphabetical order.
func contentKinds() []string { return slices.Sorted(maps.Keys(contentMakers())) }

func parseKind(s string) (string, error) {
	if contentMakers()[s] == nil && s != "interactive" {
		return "", errors.New("is none of the types that 'confab trigger inbound --help' lists")
	}
	return s, nil
}

func parseObject(s string) (object map[string]any, err error) {
	if err := json.Unmarshal([]byte(s), &object); err != nil || object == nil {
		return nil, errors.New("must be a JSON object, such as '{\"text\": {\"body\": \"hi\"}}'")
	}
	return object, nil
}

// buildBody makes the message as the control API expects it. What --content has
// is copied last, over everything else.
func (m *content) buildBody(cmd *cobra.Command, c *simulatorClient) (map[string]any, error) {
	if err := m.inferKind(cmd); err != nil {
		return nil, err
	}

	body := map[string]any{"type": m.kind}
	if maker := contentMakers()[m.kind]; maker != nil && m.raw[m.kind] == nil {
		made, err := maker(m, cmd, c)
		if err != nil {
			return nil, err
		}

		if slices.Contains([]string{"button_reply", "list_reply", "nfm_reply"}, m.kind) {
			body["type"] = "interactive"
		}
		if made != nil {
			body[body["type"].(string)] = made
		}
	}

	// Found here, and not by a maker, because any kind of message may be a reply.
	repliedTo, err := m.repliedTo(cmd.Context(), c)
	if err != nil {
		return nil, err
	}
	if repliedTo != "" {
		body["context"] = jsonObject{"message_id": repliedTo}
	}

	if m.code != 0 {
		body["error_code"] = m.code
	}

	maps.Copy(body, m.raw)
	return body, nil
}

// inferKind sets the type of a message for which --type is not given: that of
// --content, or the one that the flags given belong to.
func (m *content) inferKind(cmd *cobra.Command) (err error) {
	given := cmd.Flags().Changed
	if kind, ok := m.raw["type"].(string); ok && m.kind == "" {

		m.kind = kind
	}
	for kind := range m.raw {
		if m.kind == "" && (contentMakers()[kind] != nil || kind == "interactive") {
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

// repliedTo is the id of the message that this one replies to: the one of
// --context or, for the press of a button, which is always part of a message, the
// latest send.
func (m *content) repliedTo(ctx context.Context, c *simulatorClient) (string, error) {
	pressed := slices.Contains([]string{"button", "button_reply", "list_reply", "nfm_reply"}, m.kind)
	if m.context != "" || !pressed {
		return m.context, nil
	}

	latest, found, err := c.latestSend(ctx)
	if err != nil || !found {
		return "", err
	}
	return latest.ID, nil
}

func (m *content) location(cmd *cobra.Command, _ *simulatorClient) (any, error) {
	if given := cmd.Flags().Changed; given("latitude") != given("longitude") {
		return nil, usage("a location has both --latitude and --longitude")
	}
	return jsonObject{"latitude": m.latitude, "longitude": m.longitude}, nil
}

func (m *content) reaction(cmd *cobra.Command, c *simulatorClient) (any, error) {
	to := m.message
	if to == "" {
		latest, found, err := c.latestSend(cmd.Context())
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, errors.New("nothing was sent that could be reacted to: name a message with --message")
		}

		to = latest.ID
	}
	return jsonObject{"message_id": to, "emoji": m.emoji}, nil
}

func (m *content) edit(cmd *cobra.Command, c *simulatorClient) (any, error) {
	id, err := c.orLatestInbound(cmd.Context(), m.message)
	return jsonObject{"original_message_id": id, "message": jsonObject{"type": "text", "text": jsonObject{"body": m.text}}}, err
}

func (m *content) revoke(cmd *cobra.Command, c *simulatorClient) (any, error) {
	id, err := c.orLatestInbound(cmd.Context(), m.message)
	return jsonObject{"original_message_id": id}, err
}

func sampleContacts() []jsonObject {
	return []jsonObject{{
		"name":   jsonObject{"formatted_name": "Bo Lind", "first_name": "Bo", "last_name": "Lind"},
		"phones": []jsonObject{{"phone": "+1 555-000-2222", "wa_id": "15550002222", "type": "CELL"}},
	}}
}

func sampleOrder() jsonObject {
	return jsonObject{"catalog_id": "194836987003835", "text": "Gift wrapping, please", "product_items": []jsonObject{
		{"product_retailer_id": "tea-green-100", "quantity": 2, "item_price": 7.5, "currency": "USD"},
	}}
}
