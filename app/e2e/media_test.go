package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
	"confab/storage/storagetest"
)

// platform is a whole server in this process, with a simulator as its provider.
type platform struct {
	t     *testing.T
	dir   string
	calls chan string // each call to the provider, as "METHOD path", once it was answered
	base  string      // of the provider
	media config.Media
	app   *app.App
	key   string
	log   *logBuffer
	stop  func()
}

// logBuffer is a log that several goroutines write, and that is read after them.
type logBuffer struct {
	lock chan struct{}
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.text.Write(p)
}

func (b *logBuffer) read() string {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.text.String()
}

const platformNumber = "100200300"

func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{t: t, dir: t.TempDir(), calls: make(chan string, 100), log: &logBuffer{lock: make(chan struct{}, 1)}}
	sim, err := simulator.New(simulator.Options{AccessToken: "token-" + platformNumber})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	if _, err := sim.AddNumber(simulator.Number{PhoneNumberID: platformNumber}); err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sim.ServeHTTP(w, r)
		p.calls <- r.Method + " " + r.URL.Path
	}))
	t.Cleanup(provider.Close)
	p.base = provider.URL
	p.start()
	tenant := storagetest.Seed(t, p.app.DB, "Acme")
	storagetest.Connect(t, p.app.DB, tenant, platformNumber)
	p.key = tenant.Secret
	return p
}

// start opens and runs the server over the platform's directory.
func (p *platform) start() {
	p.t.Helper()
	c := config.Default()
	c.DataDir, c.Server.Listen, c.Provider.BaseURL, c.Storage.Synchronous = p.dir, "127.0.0.1:0", p.base, "normal"
	c.Media = p.media
	a, err := app.New(app.Options{Config: c, Schema: storagetest.Schema(p.t), Version: "test", Log: slog.New(slog.NewTextHandler(p.log, nil))})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t, open := p.t, true
	p.app = a
	p.stop = func() {
		if !open {
			return
		}
		open = false
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	p.t.Cleanup(p.stop)
}

// ask makes a request and returns its status and body.
func (p *platform) ask(method, path, contentType string, body io.Reader) (int, string, http.Header) {
	p.t.Helper()
	at := path
	if strings.HasPrefix(path, "/") {
		at = p.app.URL() + path
	}
	req, err := http.NewRequest(method, at, body)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// upload puts a file into the library and returns its id and its URL.
func (p *platform) upload(name, content string) (id, url string) {
	p.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	to, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(to, content)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	w.Close()
	status, body, _ := p.ask("POST", "/v1/"+platformNumber+"/media", w.FormDataContentType(), &form)
	var made struct{ Data struct{ ID, URL string } }
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 201 {
		p.t.Fatalf("%d %s", status, body)
	}
	return made.Data.ID, made.Data.URL
}

func (p *platform) send(id string) {
	p.t.Helper()
	body := `{"messaging_product":"chat","to":"+15550001111","type":"image","image":{"id":"` + id + `"}}`
	if status, text, _ := p.ask("POST", "/v1/"+platformNumber+"/messages", "application/json", strings.NewReader(body)); status != 200 {
		p.t.Fatalf("%d %s", status, text)
	}
}

func TestLibraryMediaTravelsFromTheAPIToTheProviderAndTheWorld(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPlatform(t)
	content := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	id, url := p.upload("menu.png", content)

	p.send(id)
	is.Equal(<-p.calls, "POST /v26.0/"+platformNumber+"/media")
	is.Equal(<-p.calls, "POST /v26.0/"+platformNumber+"/messages")
	p.send(id)
	is.Equal(<-p.calls, "POST /v26.0/"+platformNumber+"/messages") // the provider has it already

	status, body, header := p.ask("GET", url, "", nil)
	is.Equal(status, 200)
	is.Equal(body, content)
	is.Equal(header.Get("Content-Type"), "image/png")
	is.True(header.Get("X-Request-Id") != "")

	p.stop()
	p.start() // on another port
	path := url[strings.Index(url, "/media/"):]
	status, body, _ = p.ask("GET", path, "", nil)
	is.Equal(status, 200)
	is.Equal(body, content)
	p.send(id)
	is.Equal(<-p.calls, "POST /v26.0/"+platformNumber+"/messages") // nor is it uploaded again after a restart

	status, _, _ = p.ask("DELETE", "/v1/"+platformNumber+"/media/"+id, "", nil)
	is.Equal(status, 200)
	status, body, _ = p.ask("GET", path, "", nil)
	is.Equal(status, 404)
	is.True(strings.Contains(body, `"resource_not_found"`))
	status, body, header = p.ask("PUT", path, "", nil)
	is.Equal(status, 405)
	is.Equal(header.Get("Allow"), "GET, HEAD")
	is.True(strings.Contains(body, `"method_not_allowed"`))

	status, metrics, _ := p.ask("GET", "/metrics", "", nil)
	is.Equal(status, 200)
	is.True(strings.Contains(metrics, `confab_requests_total{method="GET",route="/media/:token",status="404"} 1`))
	p.stop()
	token := strings.Split(path, "/")[2]
	is.True(!strings.Contains(p.log.read(), token)) // logs show the route
	is.True(strings.Contains(p.log.read(), "path=/media/:token"))
	is.True(!strings.Contains(p.log.read(), "menu.png"))
}

func TestAServerWithoutItsMediaDirectoryDoesNotStart(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	s.kill()
	is.NoErr(writeOver(s.dir + "/" + storage.MediaDir))
	words := refused(t, "serve", "--data-dir", s.dir, "--listen", "127.0.0.1:0")
	is.True(strings.Contains(words, storage.MediaDir))
}

// writeOver puts a file in the place of a directory.
func writeOver(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("I am a file"), 0o600)
}
