package content

import "confab/app/api/rest"

const (
	maxText  = 4096
	maxEmoji = 16
)

type textBody struct {
	Body       *string `json:"body,omitempty"`
	PreviewURL *bool   `json:"preview_url,omitempty"`
}

func (t *textBody) Check(PlainHTTP) error { return rest.Required("body", t.Body, maxText) }

func (t *textBody) Describe(s *OutgoingMessage) { s.Body = t.Body }

// reactionBody is the content of a reaction. An empty emoji takes it back.
type reactionBody struct {
	MessageID *string `json:"message_id,omitempty"`
	Emoji     *string `json:"emoji,omitempty"`
}

func (r *reactionBody) Check(PlainHTTP) error {
	switch err := rest.ProviderID("message_id", r.MessageID); {
	case err != nil:
		return err
	case r.Emoji == nil:
		return rest.Missing("emoji")
	case !rest.Between(*r.Emoji, 0, maxEmoji):
		return rest.Invalid("emoji", rest.LengthRule(0, maxEmoji))
	}
	return nil
}

func (r *reactionBody) Describe(*OutgoingMessage) {}
