package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
)

// followerPage is a page of another site that follows events. EventSource cannot send a key,
// so it is done as libraries do it, by fetch.
const followerPage = `<!DOCTYPE html><title>follower</title><script>
window.events = []; window.last = "";
window.follow = async (query) => {
	const res = await fetch("%s/v1/events/stream" + query, { headers: { Authorization: "Bearer %s", "Last-Event-ID": window.last } });
	let text = "";
	for (const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();;) {
		const { done, value } = await reader.read();
		if (done) return;
		const blocks = (text + value).split("\n\n");
		text = blocks.pop();
		for (const block of blocks) {
			const { id, event, data } = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
			if (data) window.events.push(event);
			window.last = id;
		}
	}
};
</script>`

func TestABrowserFollowsEvents(t *testing.T) {
	parallelBrowser(t)
	is := is.New(t)
	b := openWindow(t)
	var page string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	defer site.Close()
	s := newStage(t, func(c *config.Config) { c.Server.CORSOrigins = []string{site.URL} })
	page = fmt.Sprintf(followerPage, s.app.URL(), s.tenant.Secret)
	create := func() { s.call("POST", s.app.URL()+"/v1/customers", `{"name":"Bäckerei"}`) }
	create()

	b.Visit(site.URL)
	events := func() string { return strings.Join(eval[[]string](b, `window.events`), " ") }
	eval[any](b, `void window.follow("?after=oldest")`)
	is.True(until(func() bool { return events() == "customer.created" }))
	create() // as it happens
	is.True(until(func() bool { return events() == "customer.created customer.created" }))
	position := eval[string](b, `window.last`)
	create()
	is.True(until(func() bool { return events() == "customer.created customer.created customer.created" }))

	// It comes back with its last position.
	eval[any](b, `void (window.events = [])`)
	eval[any](b, fmt.Sprintf(`(window.last = %q, window.follow("?wait=0"))`, position))
	is.Equal(events(), "customer.created")
}
