package gateway

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/jobs/filetype"
	"confab/jobs/provider"
	"confab/storage"
)

// urlLife is how long the URL of a file is good.
const urlLife = 5 * time.Minute

// uploadMedia handles POST /graph/:object/media.
func (g *Server) uploadMedia(r *rest.Request) (rest.Reply, error) {
	if r.Form == nil || r.Form.Files == 0 {
		return rest.Reply{}, rest.Missing("file")
	}
	if err := cmp.Or(r.CheckBilling(), g.API.CheckConnected(r)); err != nil {
		return rest.Reply{}, err
	}

	name := *cmp.Or(filetype.CleanName(r.Form.Filename), new("file"))
	declared := append([]string{r.Form.Fields["type"]}, r.Form.Declared...)
	file := provider.File{Name: name, MIME: firstType(append(declared, r.Form.MimeType)), Size: r.Form.File.Size(), Content: r.Form.File}

	r.DetachContext()
	id, answer, err := g.API.Accounts.UploadMedia(r.HTTP.Context(), r.Account.ID, file)
	if err == nil {
		err = g.API.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error { return tx.InsertGatewayMedia(r.Account.ID, id) })
		rep := asReply(answer)
		rep.Made = id
		return rep, err
	}
	answer, err = answered(answer, err)
	return asReply(answer), err
}

// firstType is the first of some types that says what a file is.
func firstType(types []string) string {
	for _, t := range types {
		_, _, err := mime.ParseMediaType(t)
		if err == nil && strings.Contains(t, "/") && t != "application/octet-stream" {
			return t
		}
	}
	return "application/octet-stream"
}

// getMedia handles GET /graph/:object of a file. Its URL becomes one of ours, as the provider's
// takes only the provider's token.
func (g *Server) getMedia(r *rest.Request) (rest.Reply, error) {
	answer, err := g.pass(r)
	if err != nil || answer.Status != http.StatusOK {
		return asReply(answer), err
	}

	var kind string
	_ = json.Unmarshal(provider.GetMember(answer.Body, "mime_type"), &kind) // "" will do
	ours, err := json.Marshal(g.mediaURL(r.Org.ID, r.Param("object"), kind, time.Now().Add(urlLife)))
	answer.Body = provider.ReplaceMember(answer.Body, "url", ours)
	return asReply(answer), err
}

func (g *Server) mediaURL(organization int64, id, kind string, until time.Time) string {
	expires := strconv.FormatInt(until.Unix(), 10)
	query := url.Values{"expires": {expires}, "type": {kind}, "signature": {g.signMedia(organization, id, kind, expires)}}
	return g.PublicURL + Path + "/media/" + id + "?" + query.Encode()
}

func (g *Server) signMedia(organization int64, id, kind, expires string) string {
	mac := hmac.New(sha256.New, g.urlKey)
	mac.Write([]byte(strconv.FormatInt(organization, 10) + "\n" + id + "\n" + expires + "\n" + kind))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// downloadMedia handles GET /graph/media/:id.
func (g *Server) downloadMedia(r *rest.Request) (rest.Reply, error) {
	query, id := r.HTTP.URL.Query(), r.Param("id")
	signature := g.signMedia(r.Org.ID, id, query.Get("type"), query.Get("expires"))
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	isGood := hmac.Equal([]byte(signature), []byte(query.Get("signature")))
	if err != nil || !isGood || time.Now().Unix() > expires {
		return rest.Reply{}, errURL()
	}

	a, err := rest.Query(g.API.Server, r, func(rx *storage.Rx) (storage.Account, error) {
		return rx.GatewayMedia(r.Org.ID, r.Key.Accounts, id)
	})
	if errors.Is(err, storage.ErrNotFound) {
		err = errURL()
	}
	if err != nil {
		return rest.Reply{}, err
	}

	return rest.Reply{Body: []byte{}, Stream: func(x *rest.Exchange) { g.stream(x, a.ID, id, query.Get("type")) }}, nil
}

func errURL() *rest.Error {
	return rest.Fail(rest.ResourceNotFound, "The URL has expired, or the file is gone.")
}

// stream writes a file as the provider sends it.
func (g *Server) stream(x *rest.Exchange, account int64, id, kind string) {
	control := http.NewResponseController(x.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(rest.UploadTime)) // without a connection there is none

	w := &fileWriter{Exchange: x, kind: kind}
	err := g.API.Accounts.DownloadMedia(x.Request.HTTP.Context(), account, id, filetype.MaxSize, w)
	switch {
	case err != nil && w.began:
		panic(http.ErrAbortHandler) // so that the client notices
	case err != nil:
		x.Failure = err
		refuse(x, errURL())
	default:
		w.begin()
	}
}

// fileWriter writes the headers of a file before its first bytes.
type fileWriter struct {
	*rest.Exchange
	kind  string
	began bool
}

func (w *fileWriter) begin() {
	if w.began {
		return
	}
	w.began = true
	h := w.Header()
	h.Set("Content-Type", firstType([]string{w.kind}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment")
	h.Set("Cache-Control", "private, no-store")
	w.WriteHeader(http.StatusOK)
}

// Write implements io.Writer.
func (w *fileWriter) Write(p []byte) (int, error) {
	w.begin()
	return w.Exchange.Write(p)
}

// deleteMedia handles DELETE /graph/:object of a file.
func (g *Server) deleteMedia(r *rest.Request) (rest.Reply, error) {
	r.DetachContext()
	answer, err := g.pass(r)
	if err != nil || answer.Status/100 != 2 {
		return asReply(answer), err
	}
	return g.API.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return asReply(answer), tx.DeleteGatewayMedia(r.Param("object"))
	})
}
