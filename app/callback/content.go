package callback

import (
	"encoding/json"
	"errors"
	"regexp"

	"confab/jobs/provider"
)

// content is what a message says: as it came, and as events word it.
type content struct {
	kind string
	raw  json.RawMessage
	// completed says that raw has what the provider left out.
	completed bool
	body      *string // text or caption
	// fileID is the provider's id of what is to be fetched; lost says that there
	// is a file which cannot be had.
	fileID   string
	fileLost bool
}

// kindPattern is what a type looks like, also one that we do not know yet.
var kindPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)

// errNoContent means that a message does not hold what its type says.
var errNoContent = errors.New("the content is not there")

// firstBytes are the first bytes of the contents of known types.
var firstBytes = map[string]byte{
	"text": '{', "image": '{', "video": '{', "audio": '{', "document": '{', "sticker": '{', "location": '{', "contacts": '[',
	"interactive": '{', "button": '{', "reaction": '{', "order": '{', "unsupported": '{',
}

// readContent reads the content of a message, which stands under the name of its
// type. Of a type that we do not know anything is taken.
func readContent(message json.RawMessage, kind string) (c content, err error) {
	c = content{kind: kind, raw: provider.Member(message, kind)}
	if !kindPattern.MatchString(kind) {
		return c, errNoContent
	}
	if shape, ok := firstBytes[kind]; ok && kind != "unsupported" && (len(c.raw) == 0 || c.raw[0] != shape) {
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

// readReaction makes a reaction that was taken back look like one: the provider
// leaves the emoji out, or empty.
func (c *content) readReaction() error {
	reaction, err := provider.Read[provider.Reaction](c.raw)
	if err != nil || reaction.MessageID == "" {
		return errNoContent
	}
	if emoji := provider.Member(c.raw, "emoji"); emoji == nil || string(emoji) == "null" {
		c.raw, c.completed = provider.With(c.raw, "emoji", json.RawMessage(`""`)), true
	}
	return nil
}

// readUnsupported says of which type a message is that cannot be shown, also
// where the provider does not.
func (c *content) readUnsupported() error {
	var what struct {
		Type string `json:"type"`
	}
	if len(c.raw) == 0 || c.raw[0] != '{' {
		c.raw = json.RawMessage(`{}`)
	}
	if err := json.Unmarshal(c.raw, &what); err != nil {
		return errNoContent
	}
	if what.Type == "" {
		c.raw, c.completed = provider.With(c.raw, "type", json.RawMessage(`"unknown"`)), true
	}
	return nil
}

// isFileUnavailable tells of a file that the provider itself could not get.
func isFileUnavailable(m provider.Message) bool {
	for _, fault := range m.Errors {
		if fault.Code == provider.CodeMediaDownload {
			return true
		}
	}
	return false
}

// readContext is what a message says of the one that it answers: as it came, and
// by the name that the API has for it.
func readContext(m provider.Message, raw json.RawMessage) json.RawMessage {
	context := provider.Member(raw, "context")
	if len(context) == 0 || context[0] != '{' {
		return nil
	}
	if m.Context.ID == "" {
		return context
	}
	id, err := json.Marshal(m.Context.ID)
	if err != nil {
		return context // texts always encode
	}
	return provider.With(context, "message_id", id)
}
