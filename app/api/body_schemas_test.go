package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bodySchemas holds answers against the schemas of openapi.json. kin-openapi would compile
// a schema anew for every answer, which was two fifths of this package's time.
type bodySchemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by where they are in the file
}

func newBodySchemas(document []byte) *bodySchemas {
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		panic(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	for _, name := range []string{"email", "uri"} { // in the file these are hints, as long as the rules allow and without a public URL
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := compiler.AddResource("openapi.json", content); err != nil {
		panic(err)
	}
	return &bodySchemas{compiler: compiler, compiled: make(map[string]*jsonschema.Schema)}
}

// check tells how a body differs from the schema at a place of the file.
func (b *bodySchemas) check(where string, body []byte) error {
	schema, err := b.schema(where)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (b *bodySchemas) schema(where string) (*jsonschema.Schema, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.compiled[where] == nil {
		schema, err := b.compiler.Compile("openapi.json" + where)
		if err != nil {
			return nil, err
		}
		b.compiled[where] = schema
	}
	return b.compiled[where], nil
}

// schemaOf tells where the schema of an answer is in the file; "" if the answer is not JSON,
// or not one that the file has: kin-openapi then looks at all of it.
func (d openAPI) schemaOf(in *openapi3filter.RequestValidationInput, res *http.Response) string {
	code := strconv.Itoa(res.StatusCode)
	response := in.Route.Operation.Responses.Value(code)
	if response == nil || response.Value.Content["application/json"] == nil || res.Header.Get("Content-Type") != "application/json" {
		return ""
	}

	where := response.Ref
	if in.Route.Operation == d.anywhere {
		for name, status := range statusOf {
			if status == code {
				where = "#/components/responses/" + name
			}
		}
	} else if where == "" {
		path := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(in.Route.Path)
		where = "#/paths/" + path + "/" + strings.ToLower(in.Route.Method) + "/responses/" + code
	}
	return where + "/content/application~1json/schema"
}
