package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestMediaThatIsBeingFetchedIsNotHereYet(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	is.Equal(f.call("GET", messages+"/"+f.call("POST", messages, hello).text("data.id")+"/media", "").get("error.message"), "This message has no media.")
	all := f.say(f.contact(account, "+15551230000"),
		incoming("wamid.1", "image", `{"id":"77"}`, func(m *storage.Message) { m.MediaStatus = new(storage.MediaFetching) }),
		incoming("wamid.2", "image", `{"id":"77"}`, func(m *storage.Message) { m.MediaStatus = new(storage.MediaFailed) }))
	for i, want := range []string{"The media of this message is still being downloaded.", "The media of this message could not be downloaded."} {
		got := f.call("GET", messages+"/"+all[i].ID+"/media", "")
		is.Equal(got.code(), "404 resource_not_found")
		is.Equal(got.get("error.message"), want)
	}
}
