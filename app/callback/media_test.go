package callback

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage/storagetest"
)

// shelf is a provider in memory that has one file.
type shelf string

// RoundTrip implements http.RoundTripper.
func (s shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	body := string(s)
	if strings.Contains(r.URL.Path, "/7700") {
		body = `{"messaging_product":"whatsapp","url":"https://provider.test/file","mime_type":"application/octet-stream","id":"7700"}`
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}, nil
}

// work runs the jobs of a line until the test ends.
func (l *line) work(t *testing.T, transport http.RoundTripper) {
	t.Helper()
	client, err := provider.New(provider.Options{BaseURL: "https://provider.test", Version: "v23.0", Transport: transport})
	l.is.NoErr(err)
	workers := jobs.New(jobs.Options{DB: l.server.DB, Provider: client, Files: storagetest.Files(t, l.dir), Publisher: l.server.Publisher, Log: l.server.Log})
	var kinds []queue.Kind
	for _, k := range workers.Kinds() {
		if k.Every == 0 { // what comes by the clock has nothing to do here
			kinds = append(kinds, k)
		}
	}
	runner := queue.New(queue.Options{DB: l.server.DB, Kinds: kinds, Workers: 8, Poll: time.Hour, Grace: time.Second, Log: l.server.Log})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// files are the types of messages that consist of a file.
var files = map[string]struct{ content, bytes string }{
	"image":    {`"image":{"caption":"Look","mime_type":"image/jpeg","sha256":"x","id":"7700"}`, "\x89PNG\r\n\x1a\n"},
	"video":    {`"video":{"mime_type":"video/mp4","sha256":"x","id":"7700"}`, "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"},
	"audio":    {`"audio":{"mime_type":"audio/ogg; codecs=opus","sha256":"x","id":"7700","voice":true}`, "ID3\x03\x00\x00\x00\x00\x00\x00"},
	"document": {`"document":{"caption":"The bill","filename":"bill 1.pdf","mime_type":"application/pdf","sha256":"x","id":"7700"}`, "%PDF-1.7"},
	"sticker":  {`"sticker":{"mime_type":"image/webp","sha256":"x","id":"7700","animated":false}`, "RIFF\x1a\x00\x00\x00WEBPVP8L"},
}

func TestEveryTypeOfFileIsToldOnceItIsHere(t *testing.T) {
	for kind, file := range files {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := hosted(newLine(t))
				l.hear(written("wamid.in", kind, file.content))
				l.hear(written("wamid.in", kind, file.content))
				l.is.Equal(l.kinds(), []string{"contact.created"}) // it waits
				l.is.Equal(l.conversation().Unread, 1)
				l.work(t, shelf(file.bytes))
				synctest.Wait()
				l.is.Equal(l.kinds(), []string{"contact.created", "message.received"})
				goldenEvent(t, "message_received_"+kind, l.typed("message.received")[0])
				l.is.Equal(*l.said()[0].MediaStatus, "ready")
			})
		})
	}
}

func TestAFileThatFollowsWhatCouldNotBeShownIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := hosted(newLine(t))
		l.hear(written("wamid.in", "unsupported", `"errors":[{"code":131060}]`))
		l.hear(written("wamid.in", "image", files["image"].content))
		l.hear(written("wamid.in", "image", files["image"].content))
		l.work(t, shelf(files["image"].bytes))
		synctest.Wait()
		l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.received"})
		l.is.Equal(l.said()[0].Type, "image")
		l.is.True(strings.Contains(string(l.typed("message.received")[1].Payload), `"media_status":"ready"`))
	})
}

func TestAFileThatCannotBeHadIsToldWithoutIt(t *testing.T) {
	l := hosted(newLine(t))
	l.hear(written("wamid.in", "image", files["image"].content+`,"errors":[{"code":131052,"title":"Media download error"}]`))
	l.hearEchoes(echo("wamid.out", "image", files["image"].content+`,"errors":[{"code":131052}]`))
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "conversation.handed_over", "message.sent"})
	goldenEvent(t, "message_received_image_lost", l.typed("message.received")[0])
	goldenEvent(t, "message_sent_echo_lost", l.typed("message.sent")[0])
}

func TestAnEchoWithAFileIsToldOnceItIsHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := hosted(newLine(t))
		l.hearEchoes(echo("wamid.out", "image", files["image"].content))
		l.is.Equal(l.kinds(), []string{"contact.created", "conversation.handed_over"})
		l.report(ourNumber, status("wamid.out", "delivered", ""))
		l.work(t, shelf(files["image"].bytes))
		synctest.Wait()
		goldenEvent(t, "message_sent_echo_image", l.typed("message.sent")[0])
		l.is.Equal(l.said()[0].Status, "delivered")
	})
}
