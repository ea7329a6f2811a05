package simulator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// png is the head of an image, enough to be recognized.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01")

// upload sends a file as clients do.
func (b *bench) upload(path, kind string, content []byte, fields ...string) reply {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		b.NoErr(w.WriteField(fields[i], fields[i+1]))
	}
	if content != nil {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="file"; filename="a.bin"`}, "Content-Type": {kind},
		})
		b.NoErr(err)
		_, err = part.Write(content)
		b.NoErr(err)
	}
	b.NoErr(w.Close())
	return b.do("POST", path, body.Bytes(), "Content-Type", w.FormDataContentType(), "Authorization", "Bearer "+testToken)
}

func TestMediaGoesUpAndComesDown(t *testing.T) {
	for _, where := range []string{"memory", "disk"} {
		t.Run(where, func(t *testing.T) {
			b := newBench(t, func(o *Options) {
				if where == "disk" {
					o.StateFile = t.TempDir() + "/state"
				}
			})
			r := b.upload("/v23.0/"+b.number.PhoneNumberID+"/media", "image/png", png, "messaging_product", "whatsapp")
			b.Equal(r.status, 200)
			b.Equal(len(r.object), 1)
			id := r.text("id")
			b.True(numericID(id))

			info := b.graph("GET", "/"+id+"?phone_number_id="+b.number.PhoneNumberID, nil)
			b.Equal(len(info.object), 6)
			sum := sha256.Sum256(png)
			b.Equal(info.text("sha256"), hex.EncodeToString(sum[:]))
			b.True(!info.isText("file_size")) // a number
			b.Equal(info.text("mime_type"), "image/png")
			link := info.text("url")
			b.True(strings.HasPrefix(link, b.url+"/")) // the same origin
			path := strings.TrimPrefix(link, b.url)

			b.Equal(b.do("GET", path, nil).status, 401)
			got := b.do("GET", path, nil, "Authorization", "Bearer "+testToken)
			b.Equal(got.raw, png)
			b.Equal(got.header.Get("Content-Type"), "image/png")
			part := b.do("GET", path, nil, "Authorization", "Bearer "+testToken, "Range", "bytes=1-3")
			b.Equal(part.status, http.StatusPartialContent)
			b.Equal(string(part.raw), "PNG")
			b.Equal(b.do("GET", strings.Replace(path, "hash=", "hash=0", 1), nil, "Authorization", "Bearer "+testToken).status, 404)
			b.settings(func(set *Settings) { set.OpenDownloads = true })
			b.Equal(b.do("GET", path, nil).status, 200)

			b.sentID(b.send(object{"to": "16505551234", "type": "image", "image": object{"id": id}}))
			b.Equal(b.send(object{"to": "16505551234", "type": "video", "video": object{"id": id}}).err().text("code"), "131053")
			b.Equal(b.graph("DELETE", "/"+id+"?phone_number_id=5", nil).err().text("error_subcode"), "33") // not the owner
			b.Equal(string(b.graph("DELETE", "/"+id, nil).raw), `{"success":true}`)
			b.Equal(b.graph("GET", "/"+id, nil).err().text("error_subcode"), "33")
			b.Equal(b.do("GET", path, nil).status, 404)
		})
	}
}

func TestUploadsAreCheckedByTypeAndSize(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID + "/media"
	product := []string{"messaging_product", "whatsapp"}
	r := b.upload(path, "text/csv", []byte("a,b"), product...)
	b.True(strings.HasPrefix(r.err().text("message"), "(#100) Param file must be a file with one of the following types: audio/aac, "))
	b.True(strings.HasSuffix(r.err().text("message"), "Received file of type 'text/csv'."))
	b.Equal(b.upload(path, "application/octet-stream", png, product...).status, 200) // recognized
	b.Equal(b.upload(path, "application/octet-stream", png, append(product, "type", "image/png")...).status, 200)
	b.Equal(b.upload(path, "image/png", png, append(product, "type", "image")...).status, 200)                // no content type
	b.Equal(b.upload(path, "application/octet-stream", png, append(product, "type", "image")...).status, 200) // recognized
	b.Equal(b.upload(path, "text/csv", []byte("a,b"), append(product, "type", "document")...).err().text("code"), "100")
	b.Equal(b.upload(path+"?messaging_product=whatsapp", "image/png", png).status, 200)               // in the query
	b.Equal(b.upload(path, "image/png", make([]byte, 5<<20+1), product...).err().text("code"), "100") // too large
	static, animated := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10"), []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12")
	for _, tt := range []struct {
		head  []byte
		limit int
	}{{static, 100 << 10}, {animated, 500 << 10}} {
		sticker := append(tt.head, make([]byte, tt.limit-len(tt.head))...)
		b.Equal(b.upload(path, "image/webp", sticker, product...).status, 200)
		b.Equal(b.upload(path, "image/webp", append(sticker, 0), product...).err().text("code"), "100")
	}
	b.Equal(b.upload(path, "image/png", nil, product...).err().text("code"), "100")
	b.Equal(b.upload(path, "image/png", png).err().text("code"), "100")
}

func TestMediaURLsLiveFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		file, err := b.s.blobs.stage(bytes.NewReader(png), maxMedia)
		b.NoErr(err)
		m, err := b.s.storeMedia(b.n.PhoneNumberID, "image/png", file, uploadLife)
		b.NoErr(err)
		get := func(link string) int {
			r := httptest.NewRequest("GET", link, nil)
			r.Header.Set("Authorization", "Bearer "+testToken)
			w := httptest.NewRecorder()
			b.s.ServeHTTP(w, r)
			return w.Code
		}
		link := m.url("http://h", time.Now())
		time.Sleep(5*time.Minute - time.Second)
		b.Equal(get(link), 200)
		time.Sleep(time.Second)
		b.Equal(get(link), 404)
		b.Equal(get(m.url("http://h", time.Now())), 200) // a new one, as GET /{media_id} gives
		time.Sleep(uploadLife)
		b.Equal(get(m.url("http://h", time.Now())), 404) // the file itself has expired
		b.True(b.s.checkSource(&draft{message: &message{Number: b.n.PhoneNumberID}}, "image", "image", object{"id": m.ID}) != nil)

		file, err = b.s.blobs.stage(bytes.NewReader(png), maxMedia)
		b.NoErr(err)
		_, err = b.s.storeMedia(b.n.PhoneNumberID, "image/png", file, uploadLife)
		b.NoErr(err)
		b.Equal(len(b.s.world.Media), 1) // and takes no room
	})
}

func TestHeaderHandlesComeFromResumableUploads(t *testing.T) {
	b := newBench(t)
	app := "/v23.0/" + b.s.Credentials().AppID
	r := b.graph("POST", "/"+b.s.Credentials().AppID+"/uploads?file_name=a.png&file_length=10&file_type=image/png", nil)
	b.Equal(r.status, 200)
	id := r.text("id")
	b.True(strings.HasPrefix(id, "upload:"))
	put := func(offset string, body string) reply {
		return b.do("POST", "/v23.0/"+id, body, "Authorization", "OAuth "+testToken, "file_offset", offset, "Content-Type", "application/x-www-form-urlencoded")
	}
	b.Equal(put("0", "12345").text("file_offset"), "5")
	b.Equal(put("0", "12345").err().text("code"), "100") // not where it ended
	b.Equal(b.graph("GET", "/"+id, nil).text("file_offset"), "5")
	b.Equal(b.graph("GET", "/"+strings.ReplaceAll(id, ":", "%3A")+"%3Fsig=x", nil).text("id"), id)
	done := put("5", "67890")
	b.True(strings.HasPrefix(done.text("h"), "4::aW1hZ2UvcG5n:"))
	b.Equal(b.createTemplate(object{"components": []object{
		{"type": "HEADER", "format": "IMAGE", "example": object{"header_handle": []string{done.text("h")}}}, {"type": "BODY", "text": "Look."},
	}}).status, 200)
	for _, q := range []string{"", "?file_length=10", "?file_length=x&file_type=image/png", "?file_length=10&file_type=text/csv"} {
		b.Equal(b.do("POST", app+"/uploads"+q, nil, "Authorization", "Bearer "+testToken).err().text("code"), "100")
	}
}
