package event

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestTheReasonSaysWhatBecameAnother(t *testing.T) {
	who := func(phone, bsuid string) (c storage.Contact) {
		if phone != "" {
			c.PhoneNumber = &phone
		}
		if bsuid != "" {
			c.BSUID = &bsuid
		}
		return c
	}
	for name, c := range map[string]struct {
		before, after storage.Contact
		reason        string
	}{
		"another id":                   {who("+1", "US.1"), who("+1", "US.2"), BSUIDRotated},
		"another number":               {who("+1", "US.1"), who("+2", "US.1"), PhoneNumberChanged},
		"another number, another id":   {who("+1", "US.1"), who("+2", "US.2"), PhoneNumberChanged},
		"a number is learned":          {who("", "US.1"), who("+1", "US.1"), PhoneNumberChanged},
		"an id is learned":             {who("+1", ""), who("+1", "US.1"), BSUIDRotated},
		"a number with another id":     {who("", "US.1"), who("+1", "US.2"), BSUIDRotated},
		"merged with what it knew all": {who("+1", "US.1"), who("+1", "US.1"), BSUIDRotated},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			data := ContactIdentityUpdated(Subject{}, c.before, c.after, 1).data.(identityUpdated)
			is.Equal(data.Reason, c.reason)
		})
	}
}
