package api

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/netip"
	"net/textproto"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/filetype"
	"confab/jobs/guard"
	"confab/storage"
	"confab/storage/storagetest"
)

const library = "/" + number + "/media"

const (
	mebibyte = 1 << 20
	office   = "application/vnd.openxmlformats-officedocument."
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// png is the shortest thing that is taken for a picture.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// serveLibrary starts an API that has a media library, in a directory of its own.
func serveLibrary(t testing.TB, change ...func(*testOptions)) (*fixture, storage.Account) {
	t.Helper()
	dir := t.TempDir()
	fetch := guard.New(guard.Options{AllowInsecure: true, Allow: loopback, Redirects: guard.MaxRedirects})
	t.Cleanup(fetch.Close)
	with := func(o *testOptions) {
		o.Files, o.Publisher.PublicURL, o.Fetch, o.AllowInsecureURLs = storagetest.Files(t, dir), "https://confab.test", fetch, true
	}
	f, account := serveNumber(t, append([]func(*testOptions){with}, change...)...)
	f.files = dir
	return f, account
}

// kept lists the files in the library's directory.
func (f *fixture) kept() (names []string) {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.files, storage.MediaDir, "*", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// part is one of a form: a file if it has a filename.
type part struct{ name, filename, kind, content string }

// formOf writes a form with a boundary of its own.
func formOf(parts ...part) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		disposition := `form-data; name="` + p.name + `"`
		if p.filename != "" {
			disposition = multipart.FileContentDisposition(p.name, p.filename)
		}
		h := textproto.MIMEHeader{"Content-Disposition": {disposition}}
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		to, _ := w.CreatePart(h) // a buffer does not fail
		io.WriteString(to, p.content)
	}
	w.Close()
	return b.String(), w.FormDataContentType()
}

// upload posts a form.
func (f *fixture) upload(parts ...part) answer { return f.uploadWith("", parts...) }

func (f *fixture) uploadWith(key string, parts ...part) answer {
	f.t.Helper()
	body, contentType := formOf(parts...)
	req, err := http.NewRequest("POST", f.url+library, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return f.do(req)
}

func picture() part { return part{"file", "menu.png", "image/png", png} }

func TestAFileIsTakenShownAndDeleted(t *testing.T) {
	is := is.New(t)
	f, account := serveLibrary(t)
	made := f.upload(picture())
	is.Equal(made.status, 201)
	token := strings.Split(made.text("data.url"), "/")[4]
	golden(t, "media", storagetest.Swap(t, made.body, token, "c29tZSByYW5kb20gdHdlbnR5LWZvdXIgYnl0"))
	id := made.text("data.id")
	is.True(storage.ValidID(storage.PrefixMedia, id))
	is.Equal(made.text("data.sha256"), f.kept()[0])
	is.True(strings.HasPrefix(made.text("data.url"), "https://confab.test/media/"))
	is.True(strings.HasSuffix(made.text("data.url"), "/menu.png"))
	is.True(!strings.Contains(made.text("data.url"), made.text("data.sha256"))) // the hash is no key to the file

	got := f.call("GET", library+"/"+id, "")
	is.Equal(got.status, 200)
	is.Equal(got.get("data"), made.get("data"))
	gone := f.call("DELETE", library+"/"+id, "")
	is.Equal(gone.status, 200)
	is.Equal(fmt.Sprint(gone.get("data")), "map[deleted:true id:"+id+" object:media]")
	for _, method := range []string{"GET", "DELETE"} {
		is.Equal(f.call(method, library+"/"+id, "").code(), "404 resource_not_found")
	}
	storagetest.View(t, f.db, func(rx *storage.Rx) error {
		_, err := rx.MediaToSend(account.ID, id) // until the removal job has run
		is.NoErr(err)
		all, err := rx.Jobs(storage.JobFilter{Kind: "media.remove", Limit: 10})
		is.Equal(len(all), 1)
		return err
	})
}

func TestTheLibraryOutlivesARestart(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	made := f.upload(picture())
	f.restart()
	is.Equal(f.call("GET", library+"/"+made.text("data.id"), "").get("data"), made.get("data"))
	is.Equal(f.kept(), []string{made.text("data.sha256")})
}

func TestTheTypeIsToldFromTheContent(t *testing.T) {
	f, _ := serveLibrary(t)
	for name, c := range map[string]struct {
		part part
		want string // a type, or ""
	}{
		"png":                 {part{"file", "a.txt", "text/html", png}, "image/png"},
		"jpeg":                {part{"file", "a.jpg", "", "\xff\xd8\xff\xe0\x00\x10JFIF"}, "image/jpeg"},
		"webp":                {part{"file", "a.webp", "", "RIFF\x00\x00\x00\x00WEBPVP8 "}, "image/webp"},
		"mp4":                 {part{"file", "a", "", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"}, "video/mp4"},
		"m4v":                 {part{"file", "a", "", "\x00\x00\x00\x18ftypM4V \x00\x00\x00\x00mp42isom"}, "video/mp4"},
		"3gp":                 {part{"file", "a", "", "\x00\x00\x00\x18ftyp3gp4\x00\x00\x00\x003gp4"}, "video/3gpp"},
		"m4a":                 {part{"file", "a", "", "\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42"}, "audio/mp4"},
		"mp3":                 {part{"file", "a", "", "ID3\x03\x00\x00\x00\x00\x00\x00"}, "audio/mpeg"},
		"amr":                 {part{"file", "a", "", "#!AMR\n\x0c"}, "audio/amr"},
		"aac":                 {part{"file", "a", "", "\xff\xf1\x50\x80\x00\x1f\xfc"}, "audio/aac"},
		"ogg":                 {part{"file", "a", "", "OggS\x00\x02" + strings.Repeat("\x00", 20) + "\x01\x13OpusHead" + strings.Repeat("\x00", 11)}, "audio/ogg"},
		"pdf":                 {part{"file", "a", "", "%PDF-1.7\n"}, "application/pdf"},
		"text":                {part{"file", "a", "", "Hello, people."}, "text/plain"},
		"csv is text":         {part{"file", "a.csv", "text/csv", "a,b\n1,2\n3,4\n"}, "text/plain"},
		"json is text":        {part{"file", "a.json", "", `{"a":[1,2]}`}, "text/plain"},
		"docx":                {part{"file", "a", "", zipOf("[Content_Types].xml", "word/document.xml")}, office + "wordprocessingml.document"},
		"xlsx":                {part{"file", "a", "", zipOf("[Content_Types].xml", "xl/workbook.xml")}, office + "spreadsheetml.sheet"},
		"pptx by its name":    {part{"file", "a.PPTX", "", zipOf("x.xml")}, office + "presentationml.presentation"},
		"docx by its label":   {part{"file", "a", office + "wordprocessingml.document", zipOf("x.xml")}, office + "wordprocessingml.document"},
		"doc by its name":     {part{"file", "a.doc", "", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 600)}, "application/msword"},
		"a zip":               {part{"file", "a.zip", "", zipOf("x.xml")}, ""},
		"a zip called pdf":    {part{"file", "a.pdf", "application/pdf", zipOf("x.xml")}, ""},
		"html":                {part{"file", "a.txt", "text/plain", "<!DOCTYPE html><script>alert(1)</script>"}, ""},
		"svg":                 {part{"file", "a.png", "image/png", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`}, ""},
		"xml":                 {part{"file", "a.txt", "", `<?xml version="1.0"?><a/>`}, ""},
		"xhtml":               {part{"file", "a.txt", "", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`}, ""},
		"gif":                 {part{"file", "a.gif", "", "GIF89a"}, ""},
		"webm":                {part{"file", "a.mp4", "video/mp4", "\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm"}, ""},
		"quicktime":           {part{"file", "a.mp4", "video/mp4", "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  "}, ""},
		"heic":                {part{"file", "a.jpg", "image/jpeg", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"}, ""},
		"a program":           {part{"file", "a.pdf", "application/pdf", "MZ\x90\x00\x03\x00\x00\x00"}, ""},
		"nobody knows":        {part{"file", "a.bin", "", "\x00\x01\x02\x03\xfe"}, ""},
		"nothing":             {part{"file", "a.png", "image/png", ""}, ""},
		"a field called file": {part{"file", "", "", "Hello"}, "text/plain"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := f.in(t).upload(c.part)
			if c.want == "" {
				is.Equal(got.code(), "400 invalid_field_value file")
				return
			}
			is.Equal(got.status, 201)
			is.Equal(got.get("data.mime_type"), c.want)
		})
	}
	incoming, err := filepath.Glob(filepath.Join(f.files, storage.MediaDir, "incoming", "*"))
	is.New(t).NoErr(err)
	is.New(t).Equal(len(incoming), 0) // what was refused is gone
}

// zipOf packs empty files.
func zipOf(names ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		w.CreateHeader(&zip.FileHeader{Name: name}) // a buffer does not fail
	}
	w.Close()
	return b.String()
}

// long is a body with a file that begins as given and has a size, made as it is read.
func long(begin string, size int64) (io.Reader, int64, string) {
	head, contentType := formOf(part{"file", "long", "", "§"})
	before, after, _ := strings.Cut(head, "§")
	zeros := io.LimitReader(zeroes{}, size-int64(len(begin)))
	return io.MultiReader(strings.NewReader(before+begin), zeros, strings.NewReader(after)), int64(len(before)+len(after)) + size, contentType
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// stream posts a long form past the conformance layer, which would hold all of it.
func (f *fixture) stream(begin string, size int64, known bool) int {
	f.t.Helper()
	body, length, contentType := long(begin, size)
	req, err := http.NewRequest("POST", f.url+library, body)
	if err != nil {
		f.t.Fatal(err)
	}
	if known {
		req.ContentLength = length
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	if res.StatusCode == 413 && !strings.Contains(string(text), `"request_too_large"`) {
		f.t.Errorf("it says %s", text)
	}
	return res.StatusCode
}

func TestEachKindHasItsSize(t *testing.T) {
	f, _ := serveLibrary(t)
	for begin, limit := range map[string]int64{
		png:                               5 * mebibyte,
		"RIFF\x00\x00\x00\x00WEBPVP8 ":    500 << 10,
		"ID3\x03\x00\x00\x00\x00\x00\x00": 16 * mebibyte,
		"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom": 16 * mebibyte,
	} {
		t.Run(filetype.Detect([]byte(begin)), func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			is.Equal(f.stream(begin, limit, true), 201)
			is.Equal(f.stream(begin, limit+1, true), 413)
			is.Equal(f.stream(begin, limit+1, false), 413) // without a Content-Length
		})
	}
}

func TestTheLargestFileIsNeverInMemory(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	is.Equal(f.stream("%PDF-1.7\n", 1*mebibyte, true), 201) // what the first one costs anyway
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	is.Equal(f.stream("%PDF-1.7\n", filetype.MaxSize, true), 201)
	runtime.ReadMemStats(&after)
	is.True(after.TotalAlloc-before.TotalAlloc < 8*mebibyte) // all that was ever allocated, not only live memory
	is.Equal(f.stream("%PDF-1.7\n", filetype.MaxSize+1, false), 413)
	is.Equal(f.stream("%PDF-1.7\n", (filetype.MaxSize+mebibyte)+1, true), 413)
}

func TestAFormNeedsOneFile(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	is.Equal(f.upload().code(), "400 missing_required_field file")
	is.Equal(f.upload(part{"type", "", "", "image/png"}).code(), "400 missing_required_field file")
	is.Equal(f.upload(part{"File", "a.png", "", png}).code(), "400 missing_required_field file") // names have a case
	is.Equal(f.upload(picture(), picture()).code(), "400 invalid_field_value file")
	is.Equal(f.upload(part{"other", "x.bin", "", "\x00"}, picture(), part{"type", "", "", "text/html"}).status, 201) // unknown fields are ignored
	is.Equal(f.call("POST", library, "").code(), "400 missing_required_field link")
	is.Equal(f.call("POST", library, "{}").code(), "400 missing_required_field link")
	is.Equal(f.call("POST", library, "{").code(), "400 invalid_json")
	whole, contentType := formOf(picture())
	for _, body := range []string{"", "x", whole[:len(whole)/2], whole[:len(whole)-4]} {
		is.Equal(f.call("POST", library, body, "Content-Type: "+contentType).code()[:3], "400") // cut off
	}
	is.Equal(len(f.kept()), 1)
}

func TestNamesAreKeptAsFarAsTheyAreNames(t *testing.T) {
	for given, want := range map[string]string{
		"menu.png": "menu.png", "../../etc/passwd": "passwd", `..\..\boot.ini`: "boot.ini", "/": "", "..": "", ".": "", "": "", "   ": "", " a ": "a",
		"line\r\nbreak.png": "linebreak.png", "nul\x00.png": "nul.png", `quo"te.png`: `quo"te.png`, "Übergröße 菜单 👍.png": "Übergröße 菜单 👍.png",
		"a\u202egnp.exe": "agnp.exe", "\xff.png": "\uFFFD.png", ".profile": ".profile", strings.Repeat("ä", 300): strings.Repeat("ä", 255),
	} {
		got := ""
		if name := filetype.CleanName(given); name != nil {
			got = *name
		}
		if got != want {
			t.Errorf("%q became %q, not %q", given, got, want)
		}
	}
	is := is.New(t)
	f, _ := serveLibrary(t)
	for given, want := range map[string]any{"../../Übergröße \"菜单\".png": `Übergröße "菜单".png`, "..": nil} {
		is.Equal(f.upload(part{"file", given, "", png}).get("data.filename"), want)
	}
}

// Everything that a form can make large has a bound, and is refused beyond it.
func TestAFormIsBounded(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	name := func(n int) part { return part{"file", strings.Repeat("a", n), "", png} }
	is.Equal(f.upload(name(1024)).text("data.filename"), strings.Repeat("a", 255)) // cut
	is.Equal(f.upload(name(1025)).code(), "400 invalid_field_value file")
	is.Equal(f.upload(name(100_000)).code(), "400 invalid_field_value file")
	is.Equal(f.upload(picture(), part{"type", "", "", strings.Repeat("a", 1025)}).code(), "400 invalid_field_value type")
	is.Equal(f.upload(picture(), part{strings.Repeat("n", 1025), "", "", "x"}).code(), "400 invalid_field_value file")
	others := slices.Repeat([]part{{"other", "", "", "x"}}, 20)
	is.Equal(f.upload(append(others[:19:19], picture())...).status, 201)
	is.Equal(f.upload(append(others, picture())...).code(), "400 invalid_field_value file")
}

func TestTheSameFileIsStoredOnceButHasTwoAddresses(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	one, two := f.upload(picture()), f.upload(picture())
	is.True(one.text("data.id") != two.text("data.id"))
	is.True(one.text("data.url") != two.text("data.url"))
	is.Equal(f.kept(), []string{one.text("data.sha256")})
}

func TestARepeatedFormIsTheSameRequestWhateverItsBoundary(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	first := f.uploadWith("k", picture())
	is.Equal(first.status, 201)
	again := f.uploadWith("k", picture())
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	is.Equal(again.body, first.body)
	is.Equal(f.uploadWith("k", part{"file", "menu.png", "image/png", png + "x"}).code(), "422 idempotency_key_reuse")
	is.Equal(f.uploadWith("k", picture(), part{"type", "", "", "image/png"}).code(), "422 idempotency_key_reuse")
	is.Equal(f.uploadWith("k", part{"fil", "", "", "e" + png}).code(), "422 idempotency_key_reuse")
	is.Equal(f.call("POST", library, `{"link":"https://x.y"}`, "Idempotency-Key: k").code(), "422 idempotency_key_reuse")
	is.Equal(f.uploadWith("bad", part{"file", "a", "", "GIF89a"}).status, 400)
	is.Equal(f.uploadWith("bad", picture()).status, 201) // what was refused is not remembered
	is.Equal(len(f.kept()), 1)
}

func TestAnInactiveSubscriptionAddsNoMedia(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	made := f.upload(picture())
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.upload(part{"file", "a", "", "GIF89a"}).code(), "400 invalid_field_value file") // the file's faults come first
	is.Equal(f.upload(picture()).code(), "402 subscription_inactive")
	path := library + "/" + made.text("data.id")
	is.Equal(f.call("GET", path, "").status, 200)
	is.Equal(f.call("DELETE", path, "").status, 200)
}

func TestMediaIsThatOfItsNumber(t *testing.T) {
	is := is.New(t)
	f, _ := serveLibrary(t)
	f.connect(f.tenant, "206540352242922")
	other := storagetest.Seed(t, f.db, "Other")
	id := f.upload(picture()).text("data.id")
	for _, method := range []string{"GET", "DELETE"} {
		is.Equal(f.call(method, "/206540352242922/media/"+id, "").code(), "404 resource_not_found")
		is.Equal(f.callAs(other.Secret, method, library+"/"+id, "").code(), "404 resource_not_found")
		for _, odd := range []string{"x", strings.ToLower(id), "med_", storagetest.Swap(t, id, "med_", "msg_")} {
			is.Equal(f.call(method, library+"/"+odd, "").code(), "404 resource_not_found")
		}
	}
	is.Equal(f.call("GET", library+"/"+id, "").status, 200)
}
