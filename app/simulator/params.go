package simulator

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

var (
	errTrailing  = errors.New("something follows the JSON value")
	errNotObject = errors.New("the JSON value is not an object")
	errTooLarge  = errors.New("the body is too large")
)

const (
	maxBody  = 4 << 20   // of anything but a file
	maxMedia = 100 << 20 // of a file
)

// input is what a request carries: its merged parameters, the JSON body as it
// came, and an uploaded file.
type input struct {
	params object
	raw    []byte
	file   *stagedFile
}

// read merges the parameters of query, JSON, form and multipart, as the
// provider does; the body wins over the query. The body of an upload is the file
// itself, regardless of its Content-Type, and is left alone.
func (c *call) read() error {
	c.input = &input{params: object{}}
	c.merge(c.r.URL.Query())
	if c.r.Body == nil || c.r.Body == http.NoBody || strings.HasPrefix(c.id, uploadPrefix) {
		return nil
	}

	kind, attrs, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return c.readMultipart(multipart.NewReader(c.r.Body, attrs["boundary"]))
	}
	body, err := readAll(c.r.Body, maxBody)
	if err != nil {
		return err
	}
	return c.readBody(kind, bytes.TrimSpace(body))
}

// readBody merges a JSON or form body. A body that looks like JSON is taken as
// such regardless of its Content-Type, because many clients do not label it.
func (in *input) readBody(kind string, body []byte) error {
	switch {
	case len(body) == 0:
		return nil
	case body[0] == '{' || strings.HasSuffix(kind, "json"):
		fields, err := decodeObject(body)
		if err == nil {
			in.raw = body
			maps.Copy(in.params, fields)
		}
		return err
	}
	form, err := url.ParseQuery(string(body))
	in.merge(form)
	return err
}

// merge adds form values; where a name is repeated the last one counts.
func (in *input) merge(values url.Values) {
	for k, v := range values {
		in.params[strings.TrimSuffix(k, "[]")] = v[len(v)-1]
	}
}

// readMultipart reads fields into the parameters and stages the first file.
func (c *call) readMultipart(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}

		// A part that is called file is one even without a file name.
		if part.FileName() == "" && part.FormName() != "file" {
			value, err := readAll(part, maxBody)
			if err != nil {
				return err
			}
			c.params[part.FormName()] = string(value)
			continue
		}

		if c.file != nil {
			continue
		}
		if c.file, err = c.s.blobs.stage(part, maxMedia); err != nil {
			return err
		}
		c.file.kind = part.Header.Get("Content-Type")
	}
}

func (in *input) discard() {
	if in != nil && in.file != nil {
		in.file.discard()
	}
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, nil
}
