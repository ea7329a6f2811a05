package jobs

import (
	"encoding/json"

	"confab/jobs/provider"
	"confab/storage"
)

// wireMessage is the provider's message without its content, in our own words.
type wireMessage struct {
	MessagingProduct string       `json:"messaging_product"`
	RecipientType    string       `json:"recipient_type"`
	To               *string      `json:"to,omitempty"`
	Recipient        *string      `json:"recipient,omitempty"`
	Context          storage.JSON `json:"context,omitempty"`
	Type             string       `json:"type"`
	Tag              string       `json:"biz_opaque_callback_data"`
}

// wireBody is the request body of a send. It carries our id of the message, which
// comes back with every status callback.
func wireBody(m storage.Message, content json.RawMessage) ([]byte, error) {
	around := wireMessage{
		MessagingProduct: "chat",
		RecipientType:    "individual",
		Recipient:        m.Recipient,
		Context:          m.Context,
		Type:             m.Type,
		Tag:              m.ID,
	}
	if m.Recipient == nil {
		around.To = m.PhoneNumber
	}

	body, err := json.Marshal(around)
	if err != nil {
		return nil, err
	}

	// The content is under the name of its type, which needs no escaping: it is
	// one of a fixed list.
	body = append(body[:len(body)-1], `,"`+m.Type+`":`...)
	return provider.ToProvider(append(append(body, content...), '}'))
}
