package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// mediaTypes are the messages that consist of a file.
var mediaTypes = []string{"image", "document", "video", "audio"}

// sending is a message of a media type with a file of the library.
func sending(kind, id string) string {
	return `{"messaging_product":"chat","to":"+15551234567","type":"` + kind + `","` + kind + `":{"id":"` + id + `"}}`
}

func TestAMessageShowsTheMediaThatItWasSentWith(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	file := f.upload(picture())
	sent := f.call("POST", messages, sending("image", file.text("data.id")))
	is.Equal(sent.status, 200)
	for member, want := range map[string]any{
		"url": file.get("data.url"), "mime_type": "image/png", "size": file.get("data.size"), "filename": "menu.png", "status": "ready",
	} {
		is.Equal(sent.get("data.media."+member), want)
	}
	is.Equal(sent.get("data.image.id"), file.get("data.id")) // the content is as it was sent
	path := messages + "/" + sent.text("data.id")
	is.Equal(f.call("GET", path, "").get("data"), sent.get("data"))
	list := f.call("GET", messages, "")
	is.True(strings.Contains(list.body, file.text("data.url")))
	found := f.call("GET", path+"/media", "")
	is.Equal(found.status, 302)
	is.Equal(found.header.Get("Location"), file.text("data.url"))

	is.Equal(f.call("DELETE", library+"/"+file.text("data.id"), "").status, 200)
	is.Equal(f.call("GET", path, "").get("data.media"), nil)
	is.Equal(f.call("GET", path+"/media", "").code(), "404 resource_not_found")
	is.Equal(f.call("POST", messages, sending("image", file.text("data.id"))).code(), "422 media_not_found image.id")
}

func TestMediaThatIsNotInTheLibraryIsNotSent(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	team := storage.Team{OrganizationID: f.tenant.Organization.ID, Name: "Others"}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error { return tx.InsertTeam(&team) })
	f.connect(storagetest.Tenant{Organization: f.tenant.Organization, Team: team}, "206540352242922")
	id := f.upload(picture()).text("data.id")
	elsewhere := storagetest.Swap(t, messages, number, "206540352242922")
	is.Equal(f.call("POST", elsewhere, sending("image", id)).code(), "422 media_not_found image.id") // another team's
	for _, missing := range []string{"x", "1013859600285441", f.db.NewID(storage.PrefixMedia), strings.ToLower(id)} {
		for _, kind := range mediaTypes {
			is.Equal(f.call("POST", messages, sending(kind, missing)).code(), "422 media_not_found "+kind+".id")
		}
	}
	header := `{"messaging_product":"chat","to":"+15551234567","type":"interactive","interactive":{"type":"reply_buttons","header":{"type":"image","image":{"id":"ID"}},` +
		`"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}}`
	is.Equal(f.call("POST", messages, storagetest.Swap(t, header, "ID", "med_x")).code(), "422 media_not_found interactive.header.image.id")
	is.Equal(f.events(), nil) // it made no contact

	got := f.call("POST", messages, storagetest.Swap(t, header, "ID", id))
	is.Equal(got.status, 200)
	is.Equal(got.get("data.media"), nil) // a header is not the message's media
}

func TestMediaIsSentFromAnotherNumberOfTheTeam(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	second := f.connect(f.tenant, "206540352242922")
	file := f.upload(picture())
	sister := storagetest.Swap(t, messages, number, "206540352242922")
	sent := f.call("POST", sister, sending("image", file.text("data.id")))
	is.Equal(sent.status, 200)
	is.Equal(sent.get("data.media.url"), file.get("data.url"))
	is.Equal(f.call("GET", "/206540352242922/media/"+file.text("data.id"), "").code(), "404 resource_not_found") // it is the other number's

	// But not by a key that has only the other number, to which it would show the file.
	bound := f.keyWith(f.tenant, storage.Key{Accounts: storage.Accounts{second.ID}})
	is.Equal(f.callAs(bound, "POST", sister, sending("image", file.text("data.id"))).code(), "422 media_not_found image.id")
	is.Equal(f.call("DELETE", library+"/"+file.text("data.id"), "").status, 200)
	is.Equal(f.call("POST", sister, sending("image", file.text("data.id"))).code(), "422 media_not_found image.id")
}

func TestAFileIsSentAsWhatItIsOrAsADocument(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	files := map[string]string{
		"image":    f.upload(picture()).text("data.id"),
		"audio":    f.upload(part{"file", "a", "", "#!AMR\n\x0c"}).text("data.id"),
		"video":    f.upload(part{"file", "a", "", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"}).text("data.id"),
		"document": f.upload(part{"file", "a", "", "%PDF-1.7\n"}).text("data.id"),
		"sticker":  f.upload(part{"file", "a", "", "RIFF\x00\x00\x00\x00WEBPVP8 "}).text("data.id"),
	}
	for own, id := range files {
		for _, kind := range mediaTypes {
			want := "400 invalid_field_value " + kind + ".id"
			if kind == own || kind == "document" {
				want = "200"
			}
			is.Equal(f.call("POST", messages, sending(kind, id)).code(), want)
		}
	}
}

func TestOtherRefusalsComeBeforeMissingMedia(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", messages, sending("image", "med_x")).code(), "402 subscription_inactive")
}
