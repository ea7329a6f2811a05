package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/jobs/rules"
)

// bound is a text or a list somewhere in the body of a request, and how long it may
// be by openapi.json.
type bound struct {
	kind string // string or array
	most int    // characters or items; -1 when nothing limits it
}

// bounds are those of a schema, by their paths: "components[].text".
type bounds map[string]bound

// walk adds the bounds of a schema and of those in it. Several schemas may be at
// one path, as the forms of a message do: the widest that limits it counts.
func (all bounds) walk(path string, ref *openapi3.SchemaRef, above []*openapi3.Schema) {
	schema := ref.Value
	if slices.Contains(above, schema) {
		return // a card holds parts as the template does
	}
	above = append(slices.Clone(above), schema)
	for _, some := range [][]*openapi3.SchemaRef{schema.OneOf, schema.AnyOf, schema.AllOf} {
		for _, one := range some {
			all.walk(path, one, above)
		}
	}
	if schema.Type.Includes("string") && schema.Format != "binary" {
		all.add(path, bound{"string", mostCharacters(schema)})
	}
	if schema.Items != nil {
		most := -1
		if schema.MaxItems != nil {
			most = int(*schema.MaxItems)
		}
		all.add(path, bound{"array", most})
		all.walk(path+"[]", schema.Items, above)
	}
	for name, property := range schema.Properties {
		all.walk(strings.TrimPrefix(path+"."+name, "."), property, above)
	}
	if more := schema.AdditionalProperties.Schema; more != nil {
		all.walk(path+".*", more, above)
	}
}

func (all bounds) add(path string, b bound) {
	key := b.kind + " " + path
	if old, ok := all[key]; !ok || b.most > old.most {
		all[key] = b
	}
}

// mostCharacters is how long a text may be; -1 when nothing limits it.
func mostCharacters(schema *openapi3.Schema) int {
	switch {
	case schema.MaxLength != nil:
		return int(*schema.MaxLength)
	case schema.Const != nil:
		return len(schema.Const.(string))
	case len(schema.Enum) > 0:
		most := 0
		for _, word := range schema.Enum {
			if text, ok := word.(string); ok {
				most = max(most, len(text))
			}
		}
		return most
	case schema.Pattern != "":
		pattern, err := syntax.Parse(schema.Pattern, syntax.Perl)
		if err != nil {
			panic(err)
		}
		return longestMatch(pattern)
	}
	return -1
}

// longestMatch is the length of the longest text that a pattern matches; -1 when
// there is none.
func longestMatch(p *syntax.Regexp) int {
	times := 1
	switch p.Op {
	case syntax.OpLiteral:
		return len(p.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpPlus:
		return -1
	case syntax.OpRepeat:
		times = p.Max
	}
	sum, most := 0, 0
	for _, sub := range p.Sub {
		n := longestMatch(sub)
		if n < 0 || times < 0 {
			return -1
		}
		sum, most = sum+n*times, max(most, n)
	}
	if p.Op == syntax.OpAlternate {
		return most
	}
	return sum
}

// bodyBounds are the bounds of a route's body.
func bodyBounds(rt rest.Route) bounds {
	all := make(bounds)
	if body := describedOperation(rt).RequestBody; body != nil {
		for _, content := range body.Value.Content {
			all.walk("", content.Schema, nil)
		}
	}
	return all
}

func TestEveryTextAndListOfARequestIsBounded(t *testing.T) {
	for _, rt := range (&Server{}).Routes() {
		for key, b := range bodyBounds(rt) {
			if b.most < 0 {
				t.Errorf("%s %s: openapi.json does not limit the %s", rt.Method, rt.Path, key)
			}
		}
	}
}

// fullBodies have the fields that the examples of the description leave out.
var fullBodies = map[string][]string{
	"POST /webhook_subscriptions":                              {`{"url":"https://93.184.216.34/","events":["messages"],"format":"provider","verify_token":"v","secret":"0123456789abcdef"}`},
	"PATCH /webhook_subscriptions/:id":                         {`{"url":"https://93.184.216.34/","description":"d","phone_number_ids":["106540352242922"],"custom_headers":{"X-A":"a"},"format":"svc","verify_token":"v"}`},
	"POST /webhook_subscriptions/:id/secrets":                  {`{"secret":"0123456789abcdef"}`},
	"POST /quick_replies":                                      {`{"shortcut":"s","text":"t","interactive":` + quickButtons + `}`},
	"PATCH /quick_replies/:id":                                 {`{"interactive":` + quickButtons + `}`},
	"PUT /:phone_number_id/hours":                              {`{"timezone":"UTC","weekly":{` + openDays() + `}}`},
	"PUT /:phone_number_id/opt_out":                            {`{"enabled":true,"start_reply":"r"}`},
	"POST /views":                                              {`{"name":"n","phone_number_id":"106540352242922","filter":{"status":"open","assigned_to":"me","mentioned":"me"},"sort":"waiting"}`},
	"POST /rules":                                              ruleBodies(""),
	"PATCH /rules/:id":                                         ruleBodies(""),
	"POST /rules/dry_run":                                      append(ruleBodies("rule"), `{"rule":{"name":"n","on":"message_received","then":[{"resolve":true}]},"since":"2026-01-01T00:00:00Z"}`),
	"PATCH /views/:id":                                         {`{"name":"n","phone_number_id":"106540352242922","filter":{"status":"open","assigned_to":"me","label_id":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D","mentioned":"me"},"sort":"waiting"}`},
	"PATCH /:phone_number_id/conversations/:id":                {`{"snoozed_until":"` + tomorrow() + `"}`},
	"PATCH /:phone_number_id/conversations/:id/notes/:note_id": {`{"text":"t","mentions":["01JQ0Z8M4T9V2X3W5Y6A7B8C9D"]}`},
	"POST /:phone_number_id/messages":                          messageBodies(),
	"POST /:phone_number_id/broadcasts":                        broadcastBodies(),
	"PATCH /customers/:id":                                     {`{"email":"a@b.test","name":"n"}`},
	"PATCH /customers/:id/setup_links/:setup_link_id":          {`{"failure_redirect_url":"https://x.y/z"}`},
	"PATCH /:phone_number_id/contacts/:id":                     {`{"username":"u"}`},
	"POST /:phone_number_id/templates":                         draftBodies,
	"PATCH /:phone_number_id/templates/:name":                  draftBodies[:len(draftBodies)-2], // those that fit the template that is there
}

const quickButtons = `{"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`

// openDays are all days of a week, each with a span.
func openDays() string {
	days := rules.Days()
	for i, day := range days {
		days[i] = `"` + day + `":[["09:00","12:30"]]`
	}
	return strings.Join(days, ",")
}

// ruleBodies are rules that have every field between them, under a name.
func ruleBodies(under string) (all []string) {
	head := `{"name":"n","once_per":"day","on":"message_received","if":{"phone_number_ids":["106540352242922"],"text":{"match":"equals","any":["w"]},
		"hours":"open","holder":"none","label_id":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"},"then":[`
	for _, action := range []string{
		`"add_label":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"`, `"remove_label":"lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"`, `"assign":"01JQ0Z8M4T9V2X3W5Y6A7B8C9D"`, `"note":"n"`,
		`"reply":{"text":"t"}`, `"reply":{"quick_reply_id":"qrp_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}`, `"hand_over":{"to":{"type":"user","id":"01JQ0Z8M4T9V2X3W5Y6A7B8C9D"}}`,
	} {
		body := head + `{` + action + `}]}`
		if under != "" {
			body = `{"` + under + `":` + body + `,"since":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`
		}
		all = append(all, body)
	}
	return all
}

// messageBodies are messages that have every field between them.
func messageBodies() []string {
	all := []string{
		`{"messaging_product":"chat","recipient_type":"individual","recipient":"US.1","scheduled_at":"` + tomorrow() + `","context":{"message_id":"wamid.1"},"type":"image","image":{"id":"m"}}`,
		message("video", `{"id":"m","caption":"c"}`), message("document", `{"link":"https://x.y/z"}`), message("audio", `{"id":"m"}`),
		message("interactive", `{"type":"button","header":{"type":"text","text":"h"},"body":{"text":"b"},"footer":{"text":"f"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`),
		message("interactive", listFrame+`{"title":"s","rows":[{"id":"1","title":"t","description":"d"}]}]}}`),
		message("template", `{"name":"t","language":{"code":"en"},"components":[
			{"type":"body","parameters":[{"type":"text","parameter_name":"n","text":"t"},{"type":"currency","currency":{"fallback_value":"f","code":"USD","amount_1000":"1"}},
				{"type":"date_time","date_time":{"fallback_value":"f"}}]},
			{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"expiration_time_ms":"1"}}]},
			{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"p"}]},
			{"type":"button","sub_type":"copy_code","index":1,"parameters":[{"type":"coupon_code","coupon_code":"c"}]},
			{"type":"carousel","cards":[{"card_index":"0","components":[{"type":"body","parameters":[{"type":"text","text":"t"}]}]}]}]}`),
		message("template", fillFrame+`{"type":"header","parameters":[{"type":"location","location":{"latitude":"1","longitude":"2","name":"n","address":"a"}}]}]}`),
		`{"messaging_product":"chat","status":"read","message_id":"wamid.1","typing_indicator":{"type":"text"}}`,
	}
	for _, kind := range []string{"image", "video", "document", "gif"} {
		for _, file := range []string{`{"link":"https://x.y/z"}`, `{"id":"m"}`, `{"id":"m","filename":"f"}`} {
			all = append(all, message("template", fillFrame+`{"type":"header","parameters":[{"type":"`+kind+`","`+kind+`":`+file+`}]}]}`))
			if kind != "gif" {
				all = append(all, message("interactive", `{"type":"button","header":{"type":"`+kind+`","`+kind+`":`+file+`},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`))
			}
		}
	}
	return all
}

func tomorrow() string { return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }

// broadcastBodies are broadcasts that have every field between them.
func broadcastBodies() (all []string) {
	const name, numbers = `{"name":"n","template":`, `,"audience":{"recipients":[{"to":"+15551234567","fields":{"a":"b"}}]}}`
	for _, body := range messageBodies() {
		var in struct{ Template json.RawMessage }
		if json.Unmarshal([]byte(body), &in) == nil && in.Template != nil {
			all = append(all, name+string(in.Template)+numbers)
		}
	}
	return append(all,
		name+`{"name":"t","language":"en"},"scheduled_at":"`+tomorrow()+`"`+numbers,
		name+`{"name":"t","language":"en"},"audience":{"contact_ids":["ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"]}}`)
}

// draftBodies are templates that have every field between them.
var draftBodies = []string{
	`{"name":"t","language":"en","category":"MARKETING","parameter_format":"POSITIONAL","message_send_ttl_seconds":"43200","components":[
		{"type":"HEADER","format":"TEXT","text":"Hi {{1}} there","example":{"header_text":["x"]}},{"type":"BODY","text":"Hi {{1}} there","example":{"body_text":[["x"]]}},
		{"type":"FOOTER","text":"f"},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"q"},{"type":"URL","text":"u","url":"https://x.y/{{1}}","example":["https://x.y/1"]},
		{"type":"PHONE_NUMBER","text":"p","phone_number":"+15551234567"},{"type":"COPY_CODE","example":"c"},
		{"type":"FLOW","text":"f","flow_id":"1","flow_name":"n","flow_json":"{}","flow_action":"navigate","navigate_screen":"S"},{"type":"VOICE_CALL","text":"v","ttl_minutes":"5"},
		{"type":"APP","text":"a","app_deep_link":{"meta_app_id":"1","android_deep_link":"a://b","android_fallback_playstore_url":"https://x.y"}}]}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"HEADER","format":"TEXT","text":"Hi {{1}} there","example":{"header_text":[["x"]]}},
		{"type":"BODY","text":"Hi {{1}} there","example":{"body_text":["x"]}}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::aW"]}},{"type":"BODY","text":"b"}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"HEADER","format":"IMAGE","example":{"header_url":"https://x.y/z"}},{"type":"BODY","text":"b"}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"HEADER","format":"IMAGE","example":{"header_url":["https://x.y/z"]}},{"type":"BODY","text":"b"}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":"o"}},{"type":"BODY","text":"b"}]}`,
	`{"name":"t","language":"en","category":"MARKETING","components":[{"type":"BODY","text":"See."},{"type":"CAROUSEL","cards":[
		{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::aW"]}},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"q"}]}]},
		{"components":[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::aW"]}},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"q"}]}]}]}]}`,
	`{"name":"t","language":"en","category":"MARKETING","parameter_format":"NAMED","components":[
		{"type":"HEADER","format":"TEXT","text":"Hi {{a}} there","example":{"header_text_named_params":[{"param_name":"a","example":"x"}]}},
		{"type":"BODY","text":"Hi {{a}} there","example":{"body_text_named_params":[{"param_name":"a","example":"x"}]}}]}`,
	`{"name":"t","language":"en","category":"AUTHENTICATION","components":[{"type":"BODY"},{"type":"FOOTER","code_expiration_minutes":"5"},{"type":"BUTTONS","buttons":[
		{"type":"OTP","otp_type":"ONE_TAP","text":"t","autofill_text":"a","supported_apps":[{"package_name":"p","signature_hash":"12345678901"}]}]}]}`,
}

// otherRefusals are how a field that is too long is refused where that is not 400
// with its own path: an id that is none finds nothing, and of a repeated part the
// second is refused.
var otherRefusals = map[string]string{
	"POST /labels team_id":                                 "404 resource_not_found",
	"POST /quick_replies team_id":                          "404 resource_not_found",
	"POST /customers team_id":                              "404 resource_not_found",
	"POST /webhook_deliveries/bulk_replay subscription_id": "404 resource_not_found",
}

// lengthened is a copy of a body in which one text or list is one longer than its
// bound, and the path of that.
type lengthened struct {
	path string // with indexes
	key  string // of its bound
	body string
}

// lengthen makes such a copy for each text and list of a body that has a bound.
func (all bounds) lengthen(body string) (made []lengthened) {
	var root any
	if err := json.Unmarshal([]byte(body), &root); err != nil {
		panic(body)
	}
	var visit func(path, general string, value any, put func(any))
	visit = func(path, general string, value any, put func(any)) {
		try := func(kind string, longer func(most int) any) {
			b, ok := all[kind+" "+general]
			if !ok || b.most < 0 {
				return
			}
			put(longer(b.most))
			made = append(made, lengthened{path, kind + " " + general, toJSON(root)})
			put(value)
		}
		switch v := value.(type) {
		case string:
			try("string", func(most int) any { return v + strings.Repeat("a", max(1, most+1-utf8.RuneCountInString(v))) })
		case []any:
			if len(v) > 0 {
				try("array", func(most int) any { return append(slices.Clone(v), slices.Repeat(v[:1], max(1, most+1-len(v)))...) })
			}
			for i, item := range v {
				visit(rest.ItemPath(path, i), general+"[]", item, func(other any) { v[i] = other })
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				within := func(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }
				inside := within(general, name)
				if _, known := all["string "+general+".*"]; known {
					inside = general + ".*"
				}
				visit(within(path, name), inside, v[name], func(other any) { v[name] = other })
			}
		}
	}
	visit("", "", root, nil)
	return made
}

// fieldOf is a path without the indexes at its end: some lists are refused as a whole.
func fieldOf(path string) string {
	for strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	return path
}

// What openapi.json forbids for its length the server refuses, naming the field, and
// changes nothing.
//
// Uploads of files are tested by themselves, and the parts of a template that is
// edited are those of a new one.
func TestTheServerKeepsTheBoundsOfTheDescription(t *testing.T) {
	f, ours, _ := serveEverything(t)
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		is := is.New(t)
		all, seen := bodyBounds(rt), make(map[string]bool)
		name := rt.Method + " " + rt.Path
		before := f.effects()
		for _, body := range slices.Concat(ours.bodies(rt), fullBodies[name]) {
			for _, long := range all.lengthen(body) {
				seen[long.key] = true
				want, other := otherRefusals[name+" "+long.path]
				got := f.callAs(ours.Secret, rt.Method, ours.path(t, rt, nil), long.body)
				if other && got.code() == want {
					continue
				}
				if got.status != 400 || fieldOf(got.text("error.param")) != fieldOf(long.path) {
					t.Errorf("%s, %s: %s", long.path, strconv.Quote(fmt.Sprintf("%.60s", long.body)), got.code())
				}
			}
		}
		is.Equal(f.effects(), before)
		for key := range all {
			if !seen[key] && !rt.Has(rest.Uploads) && !strings.HasSuffix(rt.Path, "/templates/:name") {
				t.Errorf("no body has a %s: add one to fullBodies", key)
			}
		}
	})
}
