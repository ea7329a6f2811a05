package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/app/simulator"
	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// file puts a file into the library of the world's number.
func (w *world) file(mimeType, content string) storage.Media {
	w.t.Helper()
	up, err := w.options.Files.Create()
	w.is.NoErr(err)
	_, err = io.WriteString(up, content)
	w.is.NoErr(err)
	sum, err := up.Keep(context.Background())
	w.is.NoErr(err)
	name := "menü.png"
	m := storage.Media{AccountID: w.account.ID, Origin: storage.OriginLibrary, SHA256: sum, MIMEType: mimeType, Size: int64(len(content)), Filename: &name}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.InsertMedia(&m) })
	return m
}

// picture queues an image from the library.
func (w *world) picture(m storage.Media) string {
	return w.queue("+15550001111", "image", `{"id":"`+m.ID+`","caption":"Look"}`, func(msg *storage.Message) { msg.SetMedia(m) })
}

// remove deletes media as the API does.
func (w *world) remove(m storage.Media) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		if err := tx.MarkMediaDeleted(m.AccountID, m.ID); err != nil {
			return err
		}
		return jobs.EnqueueMediaRemoval(tx, m)
	})
}

// files lists what lies in the media directory.
func (w *world) files() (names []string) {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.dir, storage.MediaDir, "*", "*"))
	w.is.NoErr(err)
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// uploadsThenSends answers uploads and sends with ids that count up.
func uploadsThenSends(n int, c call) (*http.Response, error) {
	if strings.HasSuffix(c.path, "/media") {
		return answered(200, fmt.Sprintf(`{"id":"%d"}`, 7000+n)), nil
	}
	return accepted(fmt.Sprintf("wamid.%d", n)), nil
}

// sentWith lists the media ids of the sends, and counts the uploads.
func (w *world) sentWith() (uploads int, ids []string) {
	w.t.Helper()
	for _, c := range w.provider.calls() {
		if strings.HasSuffix(c.path, "/media") {
			uploads++
			continue
		}
		var body struct{ Image struct{ ID string } }
		w.is.NoErr(json.Unmarshal([]byte(c.body), &body))
		ids = append(ids, body.Image.ID)
	}
	return uploads, ids
}

// An upload may take minutes, in which the account may be disconnected or told to slow down.
func TestWhatHappensDuringAnUploadHoldsForItsMessage(t *testing.T) {
	for name, c := range map[string]struct {
		change      func(*storage.Tx, int64) error
		soon, later int // sends
	}{
		"disconnected": {func(tx *storage.Tx, account int64) error {
			return tx.MarkAccountStatus(account, storage.AccountDisconnected, "gone")
		}, 0, 0},
		"cooldown": {func(tx *storage.Tx, account int64) error {
			return tx.SetCooldown(account, tx.Now.Add(10*time.Minute))
		}, 0, 1},
		"nothing": {func(*storage.Tx, int64) error { return nil }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(n int, made call) (*http.Response, error) {
					if strings.HasSuffix(made.path, "/media") {
						time.Sleep(2 * time.Second)
						storagetest.Update(t, w.db, func(tx *storage.Tx) error { return c.change(tx, w.account.ID) })
					}
					return uploadsThenSends(n, made)
				}
				w.start()
				id := w.picture(w.file("image/png", "\x89PNG"))
				time.Sleep(time.Minute)
				uploads, sent := w.sentWith()
				w.is.Equal(uploads, 1)
				w.is.Equal(len(sent), c.soon)

				time.Sleep(12 * time.Minute)
				uploads, sent = w.sentWith()
				w.is.Equal(uploads, 1)
				w.is.Equal(len(sent), c.later)
				w.is.Equal(w.message(id).Status == storage.MessageFailed, c.later == 0)
			})
		})
	}
}

func TestLibraryMediaIsUploadedOnceAndItsIDReusedFor29Days(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = uploadsThenSends
		m := w.file("image/png", "\x89PNG")
		w.start()
		for range 20 { // at the same moment
			w.picture(m)
		}
		time.Sleep(time.Minute)
		uploads, ids := w.sentWith()
		w.is.Equal(uploads, 1)
		w.is.Equal(len(ids), 20)
		for _, id := range ids {
			w.is.Equal(id, "7001")
		}
		first := w.provider.calls()[0]
		w.is.Equal(first.path, "/v23.0/100200300/media")
		w.is.True(strings.Contains(first.body, "\x89PNG"))
		w.is.True(strings.Contains(first.body, "Content-Type: image/png"))

		time.Sleep(28*24*time.Hour + 23*time.Hour)
		w.picture(m)
		time.Sleep(time.Minute)
		uploads, _ = w.sentWith()
		w.is.Equal(uploads, 1) // a minute before its time is up
		time.Sleep(2 * time.Hour)
		w.picture(m)
		time.Sleep(time.Minute)
		uploads, ids = w.sentWith()
		w.is.Equal(uploads, 2)
		w.is.Equal(len(ids), 22)
		w.is.True(ids[21] != "7001")
	})
}

func TestEachNumberOfATeamUploadsAFileForItself(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = uploadsThenSends
		m := w.file("image/png", "\x89PNG")
		w.start()
		first := w.account
		sister := storagetest.Connect(t, w.db, w.tenant, "100200301")
		for range 2 {
			for _, w.account = range []storage.Account{first, sister} {
				w.picture(m)
				time.Sleep(time.Second)
			}
		}
		var paths []string
		for _, c := range w.provider.calls() {
			paths = append(paths, strings.TrimPrefix(c.path, "/v23.0/"))
		}
		w.is.Equal(paths, []string{"100200300/media", "100200300/messages", "100200301/media", "100200301/messages", "100200300/messages", "100200301/messages"})
		_, ids := w.sentWith()
		w.is.Equal(ids, []string{"7001", "7003", "7001", "7003"})
	})
}

func TestMessageSentNamesTheHostedURL(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = uploadsThenSends
		m := w.file("image/png", "\x89PNG")
		w.start()
		w.picture(m)
		time.Sleep(time.Second)
		var told struct {
			Data struct {
				Message struct {
					MediaURL    string `json:"media_url"`
					MediaStatus string `json:"media_status"`
					Image       struct{ Link, Caption string }
				}
			}
		}
		w.is.NoErr(json.Unmarshal(w.stored()[0].Payload, &told))
		url := "https://confab.test/media/" + m.URLToken + "/men%C3%BC.png"
		w.is.Equal(told.Data.Message.MediaURL, url)
		w.is.Equal(told.Data.Message.MediaStatus, "ready")
		w.is.Equal(told.Data.Message.Image.Link, url)
		w.is.Equal(told.Data.Message.Image.Caption, "Look")
	})
}

func TestFilesInHeadersAndCardsAreUploadedToo(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = uploadsThenSends
		a, b := w.file("image/png", "a"), w.file("video/mp4", "b")
		w.start()
		content := `{"name":"promo","language":"en","components":[{"type":"header","parameters":[{"type":"image","image":{"id":"` + a.ID + `"}}]},` +
			`{"type":"body","parameters":[{"type":"text","text":"` + b.ID + `"},{"type":"currency","currency":{"fallback_value":"x","code":"USD","amount_1000":12345678901234567}}]},` +
			`{"type":"carousel","cards":[{"card_index":0,"components":[{"type":"header","parameters":[{"type":"video","video":{"id":"` + b.ID + `"}},{"type":"image","image":{"id":"` + a.ID + `"}}]}]}]}]}`
		w.queue("+15550001111", "template", content)
		time.Sleep(time.Second)
		calls := w.provider.calls()
		w.is.Equal(len(calls), 3) // each file once, then the message
		body := calls[2].body
		w.is.Equal(strings.Count(body, a.ID), 0)
		w.is.Equal(strings.Count(body, b.ID), 1) // a text stays a text
		w.is.True(strings.Contains(body, "12345678901234567"))
	})
}

func TestTransientUploadFailuresFollowTheSendLadder(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
		m := w.file("image/png", "\x89PNG")
		w.start()
		id := w.picture(m)
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessagePending)
		time.Sleep(20 * time.Minute)
		onLadder(w.is, w.provider.pauses(), ladder)
		w.is.Equal(*w.message(id).ErrorCode, "upstream_error")
	})
}

func TestAnUploadThatRecoversSendsTheMessage(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				return refusing(500, 131016), nil
			}
			return uploadsThenSends(n, c)
		}
		m := w.file("image/png", "\x89PNG")
		w.start()
		id := w.picture(m)
		time.Sleep(2 * time.Minute)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.Equal(len(w.provider.calls()), 3)
	})
}

func TestARefusedUploadFailsTheMessage(t *testing.T) {
	for name, c := range map[string]struct {
		status, code int
		want         string
	}{
		"the file":    {400, 100, "media_upload_failed"},
		"unknown":     {400, 99999, "media_upload_failed"},
		"media error": {400, 131053, "media_upload_failed"},
		"the token":   {401, 190, "auth_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(int, call) (*http.Response, error) { return refusing(c.status, c.code), nil }
				m := w.file("image/png", "\x89PNG")
				w.start()
				id := w.picture(m)
				time.Sleep(time.Second)
				got := w.message(id)
				w.is.Equal(got.Status, storage.MessageFailed)
				w.is.Equal(*got.ErrorCode, c.want)
				w.is.Equal(*got.ErrorProviderCode, c.code)
				w.is.Equal(len(w.provider.calls()), 1)
				w.is.Equal(w.events(), []string{"message.status " + id})
			})
		})
	}
}

// simulated lets a simulator answer in memory.
type simulated struct{ handler http.Handler }

func (s simulated) answer(r *http.Request) *http.Response {
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, r)
	return rec.Result()
}

func TestTheSimulatorTakesWhatIsSentByID(t *testing.T) {
	bubble(t, func(w *world) {
		sim, err := simulator.New(simulator.Options{AccessToken: "token-100200300"})
		w.is.NoErr(err)
		defer sim.Close()
		_, err = sim.AddNumber(simulator.Number{PhoneNumberID: "100200300"})
		w.is.NoErr(err)
		w.provider.play = simulated{sim}.answer
		m := w.file("image/png", "\x89PNG\r\n\x1a\n")
		w.start()
		ids := []string{w.picture(m), w.picture(m)}
		time.Sleep(10 * time.Second)
		for _, id := range ids {
			got := w.message(id)
			w.is.Equal(got.Status, storage.MessageSent)
			w.is.True(strings.HasPrefix(*got.ProviderID, "wamid."))
		}
		uploads, used := w.sentWith()
		w.is.Equal(uploads, 1)
		w.is.Equal(used[0], used[1])
	})
}
