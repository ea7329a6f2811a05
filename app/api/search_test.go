package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"confab/storage"
)

// Lists that may have to look at every row read on connections of their own:
// while those are busy they wait, and all others do not.
func TestSlowSearchesHoldUpNoOtherList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		f.connect(f.tenant, number)
		release := make(chan struct{})
		for range 2 {
			go func() {
				err := f.db.Search(context.Background(), func(*storage.Rx) error { <-release; return nil })
				if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		waiting := []string{
			contacts + "?search=ana", contacts + "?updated_since=2026-01-02T03:04:05Z", contacts + "?email=a@b.c&search=x", contacts + "?label_id=" + f.label("VIP") + "&search=x",
			messages + "?status=read", messages + "?direction=outbound", messages + "?type=text", conversations + "?status=open&updated_since=2026-01-02T03:04:05Z",
			"/webhook_deliveries?event_type=message.sent", "/customers?search=ana",
		}
		answers := make(chan answer, len(waiting))
		for _, path := range waiting {
			go func() { answers <- f.call("GET", path, "") }()
		}
		synctest.Wait()
		is.Equal(len(answers), 0)
		for _, path := range []string{
			contacts, contacts + "?phone_number=15551234567", contacts + "?email=a@b.c", contacts + "?label_id=" + f.label("Other"),
			messages, messages + "?status=failed", messages + "?direction=inbound", conversations, conversations + "?status=open", conversations + "?updated_since=2026-01-02T03:04:05Z", "/webhook_deliveries?status=dead", "/customers", "/labels",
		} {
			is.Equal(f.call("GET", path, "").status, 200)
		}
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		req, err := http.NewRequestWithContext(gone, "GET", f.url+contacts+"?search=x", strings.NewReader(""))
		is.NoErr(err)
		req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
		is.Equal(f.do(req).code(), "503 service_unavailable") // nobody waits for it any more
		close(release)
		for range waiting {
			is.Equal((<-answers).status, 200)
		}
	})
}
