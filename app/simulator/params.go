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

// readInput merges the parameters of query, JSON, form and multipart, as the
// provider does; the body wins over the query.
func (s *Server) readInput(r *http.Request) (*input, error) {
	in := &input{params: object{}}
	if r.URL.RawQuery != "" {
		// Pairs that cannot be read are left out, as the provider does.
		query, _ := url.ParseQuery(r.URL.RawQuery)
		in.merge(query)
	}

	if r.Body == nil || r.Body == http.NoBody {
		return in, nil
	}

	kind, attrs, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return in, s.readMultipart(in, multipart.NewReader(r.Body, attrs["boundary"]))
	}

	body, err := readAll(r.Body, maxBody)
	if err != nil {
		return in, err
	}
	return in, in.readBody(kind, body)
}

// readBody merges a JSON or form body. A body that looks like JSON is taken as
// such regardless of its Content-Type, because many clients do not label it.
func (in *input) readBody(kind string, body []byte) error {
	trimmed := bytes.TrimSpace(body)

	switch {
	case len(trimmed) == 0:
		return nil
	case trimmed[0] == '{' || strings.HasSuffix(kind, "json"):
		var m map[string]any
		if err := decodeJSON(trimmed, &m); err != nil {
			return err
		}
		if m == nil {
			return errNotObject
		}

		in.raw = trimmed
		if len(in.params) == 0 {
			in.params = m
			return nil
		}
		maps.Copy(in.params, m)
		return nil
	default:
		form, err := url.ParseQuery(string(trimmed))
		in.merge(form)
		return err
	}
}

// merge adds form values; where a name is repeated the last one counts.
func (in *input) merge(values url.Values) {
	for k, v := range values {
		in.params[strings.TrimSuffix(k, "[]")] = v[len(v)-1]
	}
}

// readMultipart reads fields into the parameters and stages the first file.
func (s *Server) readMultipart(in *input, parts *multipart.Reader) error {
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
			in.params[part.FormName()] = string(value)
			continue
		}

		if in.file != nil {
			continue
		}
		if in.file, err = s.blobs.stage(part, maxMedia); err != nil {
			return err
		}

		in.file.kind = part.Header.Get("Content-Type")
	}
}

// discard drops a staged file that was not kept.
func (in *input) discard() {
	if in != nil && in.file != nil {
		in.file.discard()
	}
}

// readAll reads at most limit bytes and refuses more.
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
