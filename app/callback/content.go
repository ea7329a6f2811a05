package callback

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"

	"confab/jobs/provider"
)

// content is the content of a message.
type content struct {
	kind      string          // the message's type
	raw       json.RawMessage // as it came, or completed
	completed bool            // a key that the provider left out was added to raw
	body      *string         // text or caption

	fileID   string // the provider's id of a file to download, "" for none
	fileLost bool   // there is a file, but it cannot be downloaded
}

// kindPattern is the form of a message type, also of one that we do not know.
var kindPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)

// errNoContent means that a message does not hold what its type says.
var errNoContent = errors.New("the content is not there")

// firstBytes says for known types whether the content is an object or an array.
var firstBytes = map[string]byte{
	"text": '{', "image": '{', "video": '{', "audio": '{', "document": '{', "sticker": '{',
	"location": '{', "contacts": '[', "interactive": '{', "button": '{', "reaction": '{', "order": '{',
}

// readContent reads the content of a message: the member that has the name of the
// message's type. An unknown type may have any content.
func readContent(message json.RawMessage, kind string) (c content, err error) {
	c = content{kind: kind, raw: provider.GetMember(message, kind)}
	if !kindPattern.MatchString(kind) {
		return c, errNoContent
	}
	if first, ok := firstBytes[kind]; ok && (len(c.raw) == 0 || c.raw[0] != first) {
		return c, errNoContent
	}

	switch kind {
	case "text":
		var text struct {
			Body *string `json:"body"`
		}
		if err := json.Unmarshal(c.raw, &text); err != nil || text.Body == nil {
			return c, errNoContent
		}
		c.body = text.Body
	case "image", "video", "audio", "document", "sticker":
		err = c.readFile()
	case "reaction":
		err = c.readReaction()
	case "unsupported":
		err = c.readUnsupported()
	}

	if len(c.raw) == 0 {
		c.raw = json.RawMessage("null")
	}
	return c, err
}

// readFile reads an image, video, audio, document or sticker.
func (c *content) readFile() error {
	file, err := provider.Read[provider.Attachment](c.raw)
	if err != nil {
		return err
	}

	if file.Caption != "" {
		c.body = &file.Caption
	}
	c.fileID, c.fileLost = string(file.ID), file.ID == ""
	return nil
}

// readReaction reads a reaction. For one that was taken back the provider sends an
// empty emoji or none; we always store an empty one.
func (c *content) readReaction() error {
	reaction, err := provider.Read[provider.Reaction](c.raw)
	if err != nil || reaction.MessageID == "" {
		return errNoContent
	}
	if emoji := provider.GetMember(c.raw, "emoji"); emoji == nil || string(emoji) == "null" {
		c.raw, c.completed = provider.SetMember(c.raw, "emoji", json.RawMessage(`""`)), true
	}
	return nil
}

// readUnsupported reads a message of a type that the provider does not pass on.
// Its content names that type; if it does not, we store "unknown".
func (c *content) readUnsupported() error {
	if len(c.raw) == 0 || c.raw[0] != '{' {
		c.raw = json.RawMessage(`{}`)
	}

	var what struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(c.raw, &what); err != nil {
		return errNoContent
	}
	if what.Type == "" {
		c.raw, c.completed = provider.SetMember(c.raw, "type", json.RawMessage(`"unknown"`)), true
	}
	return nil
}

// isFileUnavailable reports whether the provider itself could not get the file.
func isFileUnavailable(m provider.Message) bool {
	return slices.ContainsFunc(m.Errors, func(f provider.Fault) bool { return f.Code == provider.CodeMediaDownload })
}

// readContext returns the context of a message, which names the message that it
// answers: as it came, and with that id also as message_id, the name in our API.
func readContext(m provider.Message, raw json.RawMessage) json.RawMessage {
	context := provider.GetMember(raw, "context")
	if len(context) == 0 || context[0] != '{' {
		return nil
	}
	if m.Context.ID == "" {
		return context
	}

	id, _ := json.Marshal(m.Context.ID) // a string can always be encoded
	return provider.SetMember(context, "message_id", id)
}
