package jobs_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// hear posts what a person, or the phone, says in a field, signed.
func (w *world) hear(field, list, item string) {
	w.t.Helper()
	w.callback(field, fmt.Sprintf(`"contacts":[{"profile":{"name":"Ana Ruiz"},"wa_id":"15550001111","user_id":"US.1"}],%q:[%s]`, list, item))
}

// photo lets ana send a file of a kind, with further keys in its content.
func (w *world) photo(wamid, kind, more string) {
	w.t.Helper()
	w.hear("messages", "messages", fmt.Sprintf(`{"from":"15550001111","id":%q,"timestamp":"%d","type":%q,%q:{"id":"7700","mime_type":"image/jpeg","sha256":"x"%s}}`,
		wamid, time.Now().Unix(), kind, kind, more))
}

const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// shelf answers lookups and downloads of one file.
func shelf(content string) func(int, call) (*http.Response, error) {
	sum := sha256.Sum256([]byte(content))
	return func(_ int, c call) (*http.Response, error) {
		if strings.HasSuffix(c.path, "/7700") {
			return answered(200, fmt.Sprintf(`{"messaging_product":"whatsapp","url":"https://provider.test/files/1","mime_type":"image/jpeg","sha256":%q,"file_size":%d,"id":"7700"}`,
				hex.EncodeToString(sum[:]), len(content))), nil
		}
		return answered(200, content, "Content-Type", "image/jpeg"), nil
	}
}

// heard is the only message there is.
func (w *world) heard() storage.Message {
	w.t.Helper()
	ids := storagetest.Select[string](w.t, w.dir, `SELECT id FROM messages`)
	w.is.Equal(len(ids), 1)
	return w.message(ids[0])
}

// svc is what an event of a message that came in says beside the provider.
func (w *world) svc(payload []byte) (svc struct {
	MediaURL    *string `json:"media_url"`
	MediaStatus *string `json:"media_status"`
	MessageID   string  `json:"message_id"`
}) {
	w.t.Helper()
	var e struct{ Svc json.RawMessage }
	w.is.NoErr(json.Unmarshal(payload, &e))
	w.is.NoErr(json.Unmarshal(e.Svc, &svc))
	return svc
}

func TestMediaIsFetchedBeforeItsEventGoesOut(t *testing.T) {
	bubble(t, func(w *world) {
		release := make(chan struct{})
		answer := shelf(picture)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			<-release
			return answer(n, c)
		}
		w.start()
		w.photo("wamid.1", "image", `,"caption":"Look"`)
		synctest.Wait()
		w.is.Equal(len(w.events()), 1) // contact.created
		w.is.Equal(*w.heard().MediaStatus, "fetching")
		close(release)
		synctest.Wait()

		m := w.heard()
		w.is.Equal(*m.MediaStatus, "ready")
		w.is.Equal(*m.MediaMIMEType, "image/png") // sniffed, not believed
		w.is.Equal(*m.MediaSize, int64(len(picture)))
		w.is.Equal(w.events()[1], "message.received wamid.1")
		svc := w.svc(w.stored()[1].Payload)
		w.is.Equal(*svc.MediaURL, "https://confab.test/media/"+*m.MediaToken)
		w.is.Equal(*svc.MediaStatus, "ready")
		w.is.Equal(svc.MessageID, m.ID)
		calls := w.provider.calls()
		w.is.Equal(len(calls), 2)
		w.is.Equal(calls[0].auth, "Bearer token-100200300")
		w.is.Equal(calls[1].auth, "Bearer token-100200300")
		text, err := os.ReadFile(filepath.Join(w.dir, storage.MediaDir, w.files()[0][:2], w.files()[0]))
		w.is.NoErr(err)
		w.is.Equal(string(text), picture)
	})
}

func TestEveryKindOfFileIsFetched(t *testing.T) {
	for kind, c := range map[string]struct{ content, more, mime, name string }{
		"video":    {"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", "", "video/mp4", ""},
		"audio":    {"OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x13OpusHead\x01", `,"voice":true`, "audio/ogg", ""},
		"document": {"%PDF-1.7 …", `,"filename":"../../bill <1>.pdf"`, "application/pdf", "bill <1>.pdf"},
		"sticker":  {"RIFF\x24\x00\x00\x00WEBPVP8 ", `,"animated":false`, "image/webp", ""},
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = shelf(c.content)
				w.start()
				w.photo("wamid.1", kind, c.more)
				synctest.Wait()
				m := w.heard()
				w.is.Equal(m.Type, kind)
				w.is.Equal(*m.MediaMIMEType, c.mime)
				if c.name != "" {
					w.is.Equal(*m.MediaFilename, c.name)
				} else {
					w.is.Equal(m.MediaFilename, nil)
				}
				w.is.Equal(*w.svc(w.stored()[1].Payload).MediaStatus, "ready")
			})
		})
	}
}

func TestTheSameContentIsStoredOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = shelf(picture)
		w.start()
		for i := range 5 {
			w.photo(fmt.Sprint("wamid.", i), "image", "")
		}
		synctest.Wait()
		w.is.Equal(len(w.files()), 1)
		tokens := storagetest.Select[string](t, w.dir, `SELECT DISTINCT url_token FROM media WHERE origin = 'message'`)
		w.is.Equal(len(tokens), 5) // each message has a URL of its own
	})
}

// TestTransientFailuresAreRetriedForTwoMinutes looks at every attempt.
func TestTransientFailuresAreRetriedForTwoMinutes(t *testing.T) {
	for name, answer := range map[string]func(int, call) (*http.Response, error){
		"server error": func(int, call) (*http.Response, error) { return answered(500, ""), nil },
		"no answer":    func(int, call) (*http.Response, error) { return nil, http.ErrHandlerTimeout },
		"other content": func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/7700") {
				return shelf("what was meant")(n, c)
			}
			return answered(200, "what came instead"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = answer
				w.start()
				w.photo("wamid.1", "image", "")
				time.Sleep(time.Minute)
				w.is.Equal(len(w.events()), 1)
				w.is.Equal(*w.heard().MediaStatus, "fetching")
				time.Sleep(5 * time.Minute)

				var pauses []time.Duration
				calls := w.provider.calls()
				for i, last := 0, calls[0].at; i < len(calls); i++ {
					if pause := calls[i].at.Sub(last); strings.HasSuffix(calls[i].path, "/7700") && i > 0 {
						pauses, last = append(pauses, pause), calls[i].at
					}
				}
				onLadder(w.is, pauses, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, time.Minute})
				w.is.Equal(*w.heard().MediaStatus, "failed")
				w.is.Equal(w.events()[1:], []string{"message.received wamid.1"})
				w.is.Equal(w.svc(w.stored()[1].Payload).MediaURL, nil)
				w.is.Equal(w.svc(w.stored()[1].Payload).MediaStatus, nil)
				w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT id FROM jobs WHERE kind = 'media.fetch'`)), 0)
			})
		})
	}
}

func TestARecoveredFetchIsTold(t *testing.T) {
	bubble(t, func(w *world) {
		answer := shelf(picture)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n <= 3 {
				return answered(503, ""), nil
			}
			return answer(n, c)
		}
		w.start()
		w.photo("wamid.1", "image", "")
		time.Sleep(time.Minute)
		w.is.Equal(*w.svc(w.stored()[1].Payload).MediaStatus, "ready")
		w.is.Equal(len(w.events()), 2)
	})
}

func TestAPermanentRefusalIsToldAtOnce(t *testing.T) {
	gone := `{"error":{"message":"Unsupported get request.","type":"GraphMethodException","code":100,"error_subcode":33}}`
	for name, c := range map[string]struct {
		status  string // of the account afterwards
		answers func(int, call) (*http.Response, error)
	}{
		"gone":      {"connected", func(int, call) (*http.Response, error) { return answered(400, gone), nil }},
		"too large": {"connected", shelf2(`{"url":"https://provider.test/files/1","file_size":104857601}`)},
		"a lie about the size": {"connected", func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/7700") {
				return answered(200, `{"url":"https://provider.test/files/1","file_size":1}`), nil
			}
			return answered(200, strings.Repeat("x", 100<<20+1)), nil
		}},
		"the token": {"degraded", func(int, call) (*http.Response, error) { return refusing(401, 190), nil }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = c.answers
				w.start()
				w.photo("wamid.1", "image", "")
				synctest.Wait()
				w.is.Equal(*w.heard().MediaStatus, "failed")
				w.is.Equal(w.events()[1:], []string{"message.received wamid.1"})
				w.is.Equal(w.svc(w.stored()[1].Payload).MediaURL, nil)
				w.is.Equal(w.sender().Status, c.status)
			})
		})
	}
}

// shelf2 describes a file in words of its own, and has none.
func shelf2(description string) func(int, call) (*http.Response, error) {
	return func(_ int, c call) (*http.Response, error) {
		if strings.HasSuffix(c.path, "/7700") {
			return answered(200, description), nil
		}
		return answered(404, ""), nil
	}
}

func TestMediaThatTheProviderItselfDoesNotHaveIsToldAtOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.start()
		w.hear("messages", "messages", `{"from":"15550001111","id":"wamid.1","timestamp":"1","type":"video","video":{"id":"7700","mime_type":"video/mp4"},"errors":[{"code":131052,"title":"Media download error"}]}`)
		w.hear("messages", "messages", `{"from":"15550001111","id":"wamid.2","timestamp":"1","type":"video","video":{"caption":"no id"}}`)
		w.is.Equal(w.events()[1:], []string{"message.received wamid.1", "message.received wamid.2"})
		w.is.Equal(len(w.provider.calls()), 0)
		w.is.Equal(storagetest.Select[string](t, w.dir, `SELECT media_status FROM messages`), []string{"failed", "failed"})
	})
}

func TestAnAddressThatHasExpiredIsLookedUpAgain(t *testing.T) {
	bubble(t, func(w *world) {
		answer := shelf(picture)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 2 {
				return answered(404, ""), nil
			}
			return answer(n, c)
		}
		w.start()
		w.photo("wamid.1", "image", "")
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 4)
		w.is.Equal(*w.heard().MediaStatus, "ready")
	})
}

func TestAnEchoWaitsForItsMedia(t *testing.T) {
	for name, answer := range map[string]func(int, call) (*http.Response, error){"had": shelf(picture), "lost": shelf2(`{"url":"https://provider.test/files/1","file_size":104857601}`)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = answer
				w.hear("smb_message_echoes", "message_echoes", `{"from":"1555100200300","to":"15550001111","to_user_id":"US.1","id":"wamid.1","timestamp":"1","type":"image","image":{"id":"7700","caption":"Look"}}`)
				w.is.Equal(len(w.events()), 2) // the contact, and that the echo took hold
				w.start()
				synctest.Wait()
				m := w.heard()
				w.is.Equal(w.events()[2:], []string{"message.sent " + m.ID + ":sent"})
				var told struct {
					Data struct {
						Conversation struct{ Status string }
						Message      map[string]any
					}
				}
				w.is.NoErr(json.Unmarshal(w.stored()[2].Payload, &told))
				w.is.Equal(told.Data.Conversation.Status, "open")
				w.is.Equal(told.Data.Message["source"], "app")
				if name == "lost" {
					w.is.Equal(told.Data.Message["media_url"], nil)
					w.is.Equal(told.Data.Message["media_status"], nil)
					w.is.Equal(told.Data.Message["image"], map[string]any{"link": nil, "caption": "Look"})
					return
				}
				w.is.Equal(told.Data.Message["media_status"], "ready")
				w.is.Equal(told.Data.Message["image"], map[string]any{"link": told.Data.Message["media_url"], "caption": "Look"})
			})
		})
	}
}

func TestAMessageThatIsGoneIsNotFetched(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = shelf(picture)
		w.photo("wamid.1", "image", "")
		storagetest.Exec(t, w.dir, `DELETE FROM contacts`)
		w.start()
		synctest.Wait()
		w.is.Equal(len(w.provider.calls()), 0)
		w.is.Equal(len(w.events()), 1)
	})
}

func TestAMessageThatGoesWhileItsMediaComesIsForgotten(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"media.remove_unused"}
		answer := shelf(picture)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			storagetest.Exec(t, w.dir, `DELETE FROM contacts`)
			return answer(n, c)
		}
		w.start()
		w.photo("wamid.1", "image", "")
		synctest.Wait()
		w.is.Equal(len(w.events()), 1)
		w.is.Equal(len(storagetest.Select[string](t, w.dir, `SELECT id FROM media`)), 0)
		time.Sleep(12 * time.Hour)
		w.is.Equal(w.files(), nil) // swept
	})
}

func TestADiskThatIsFullDelaysTheEventOnly(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = shelf(picture)
		incoming := filepath.Join(w.dir, storage.MediaDir, "incoming")
		w.is.NoErr(os.Remove(incoming))
		w.start()
		w.photo("wamid.1", "image", "")
		time.Sleep(12 * time.Hour) // a night
		w.is.Equal(len(w.events()), 1)
		w.is.NoErr(os.Mkdir(incoming, 0o700))
		time.Sleep(time.Minute)
		w.is.Equal(*w.svc(w.stored()[1].Payload).MediaStatus, "ready")
	})
}

func TestAHashInBase64IsUnderstood(t *testing.T) {
	bubble(t, func(w *world) {
		sum := sha256.Sum256([]byte(picture))
		w.provider.answer = func(_ int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/7700") {
				return answered(200, `{"url":"https://provider.test/files/1","sha256":"`+base64.StdEncoding.EncodeToString(sum[:])+`"}`), nil
			}
			return answered(200, picture), nil
		}
		w.start()
		w.photo("wamid.1", "image", "")
		synctest.Wait()
		w.is.Equal(*w.heard().MediaStatus, "ready")
	})
}
