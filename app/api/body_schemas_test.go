package api

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bodySchemas holds bodies against the schemas of openapi.json. kin-openapi would compile
// a schema anew for every body, which was half of this package's time.
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

// Check says how a body differs from the schema at a place of the file.
func (b *bodySchemas) Check(where string, body []byte) error {
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

// schemaOf says where the schema of an answer is in the file; "" if the answer is not JSON,
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
		where = operationAt(in.Route) + "/responses/" + code
	}
	return where + jsonSchema
}

// jsonSchema is where the schema of a JSON body is in what describes the body.
const jsonSchema = "/content/application~1json/schema"

// operationAt says where an operation is in the file.
func operationAt(route *routers.Route) string {
	path := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(route.Path)
	return "#/paths/" + path + "/" + strings.ToLower(route.Method)
}

// allows says why the description forbids a request, if it does.
func (d openAPI) allows(in *openapi3filter.RequestValidationInput, sent []byte) error {
	body := in.Route.Operation.RequestBody
	mediaType, _, _ := mime.ParseMediaType(in.Request.Header.Get("Content-Type"))
	ours := len(sent) > 0 && mediaType == "application/json" && body != nil && body.Ref == "" && body.Value.Content[mediaType] != nil

	in.Options.ExcludeRequestBody = ours
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil || !ours {
		return err
	}
	return d.bodies.Check(operationAt(in.Route)+"/requestBody"+jsonSchema, sent)
}
