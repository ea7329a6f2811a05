package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// actions are a valid action for each type of interactive.
var actions = map[string]string{
	"reply_buttons": `{"buttons":[{"type":"reply","reply":{"id":"1","title":"one"}}]}`,
	"button":        `{"buttons":[{"type":"reply","reply":{"id":"1","title":"one"}}]}`,
	"cta_url":       `{"name":"cta_url","parameters":{"display_text":"Go","url":"https://x.y/"}}`,
	"list":          `{"button":"Choose","sections":[{"rows":[{"id":"1","title":"one"}]}]}`,

	"request_contact_info": `{"name":"request_contact_info"}`,
}

// tapped is an interactive of a type; members are those beside type and action.
func tapped(kind, members string) string {
	return message("interactive", `{"type":"`+kind+`","action":`+actions[kind]+members+`}`)
}

// action is an interactive of a type with an action of its own.
func action(kind string) func(string) string {
	return func(in string) string {
		return message("interactive", `{"type":"`+kind+`","body":{"text":"b"},"action":`+in+`}`)
	}
}

func TestTheFrameOfAnInteractive(t *testing.T) {
	body := func(in string) string { return message("interactive", in) }
	judgeAll(t, body, []ruling{
		{`{}`, "missing_required_field interactive.type"},
		{`{"type":null}`, "missing_required_field interactive.type"},
		{`{"type":""}`, "invalid_field_value interactive.type"},
		{`{"type":"flow"}`, "invalid_field_value interactive.type"},
		{`{"type":1}`, "invalid_field_value interactive.type"},
		{`{"type":"list"}`, "missing_required_field interactive.body"},
		{`{"type":"list","body":null}`, "missing_required_field interactive.body"},
		{`{"type":"list","body":"b"}`, "invalid_field_value interactive.body"},
		{`{"type":"list","body":{"text":"b"}}`, "missing_required_field interactive.action"},
		{`{"type":"list","body":{"text":"b"},"action":null}`, "missing_required_field interactive.action"},
		{`{"type":"list","body":{"text":"b"},"action":[]}`, "invalid_field_value interactive.action"},
		{`{"type":"list","body":{"text":"b"},"footer":null,"action":` + actions["list"] + `}`, ""},
		{`{"type":"list","body":{"text":"b"},"footer":{},"action":{}}`, "missing_required_field interactive.footer.text"},
		{`{"type":"list","body":{"text":"b"},"footer":"f","action":{}}`, "invalid_field_value interactive.footer"},
	})
}

func TestHeadersAreOfTheirTypesKinds(t *testing.T) {
	for kind := range actions {
		files := "" // of the verdict on a header with a file
		if kind == "list" || kind == "request_contact_info" {
			files = "invalid_field_value interactive.header.type"
		}
		t.Run(kind, func(t *testing.T) {
			body := func(in string) string { return tapped(kind, `,"body":{"text":"b"},"header":`+in) }
			judgeAll(t, body, []ruling{
				{`null`, ""},
				{`{"type":"text","text":"h"}`, ""},
				{`{"type":"image","image":{"id":"m"}}`, files},
				{`{"type":"video","video":{"id":"m"}}`, files},
				{`{"type":"document","document":{"id":"m","filename":"f"}}`, files},
				{`{"type":"audio","audio":{"id":"m"}}`, "invalid_field_value interactive.header.type"},
				{`{"type":"gif","gif":{"id":"m"}}`, "invalid_field_value interactive.header.type"},
				{`{"type":""}`, "invalid_field_value interactive.header.type"},
				{`{}`, "missing_required_field interactive.header.type"},
				{`{"type":null,"text":"h"}`, "missing_required_field interactive.header.type"},
				{`{"type":5}`, "invalid_field_value interactive.header.type"},
				{`"h"`, "invalid_field_value interactive.header"},
			})
		})
	}
	is := is.New(t)
	is.Equal(judge(t, tapped("button", `,"body":{"text":"b"},"header":{"type":"image","video":{"id":"m"}}`)), "missing_required_field interactive.header.image")
}

// buttons is an array of n different reply buttons.
func buttons(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"type":"reply","reply":{"id":"%d","title":"t%d"}}`, i, i)
	}
	return `[` + strings.Join(all, ",") + `]`
}

func TestReplyButtons(t *testing.T) {
	const path = "interactive.action.buttons"
	two := func(id, title string) string {
		return `{"buttons":[{"type":"reply","reply":{"id":"1","title":"one"}},{"type":"reply","reply":{"id":"` + id + `","title":"` + title + `"}}]}`
	}
	for _, kind := range []string{"button", "reply_buttons"} {
		t.Run(kind, func(t *testing.T) {
			judgeAll(t, action(kind), []ruling{
				{`{}`, "missing_required_field " + path},
				{`{"buttons":null}`, "missing_required_field " + path},
				{`{"buttons":[]}`, "invalid_field_value " + path},
				{`{"buttons":{}}`, "invalid_field_value " + path},
				{`{"buttons":` + buttons(1) + `}`, ""},
				{`{"buttons":` + buttons(3) + `}`, ""},
				{`{"buttons":` + buttons(4) + `}`, "invalid_field_value " + path},
				{`{"buttons":[null]}`, "missing_required_field " + path + "[0]"},
				{`{"buttons":["x"]}`, "invalid_field_value " + path + "[0]"},
				{`{"buttons":[{}]}`, "missing_required_field " + path + "[0].type"},
				{`{"buttons":[{"type":""}]}`, "invalid_field_value " + path + "[0].type"},
				{`{"buttons":[{"type":"url"}]}`, "invalid_field_value " + path + "[0].type"},
				{`{"buttons":[{"type":"reply"}]}`, "missing_required_field " + path + "[0].reply"},
				{`{"buttons":[{"type":"reply","reply":null}]}`, "missing_required_field " + path + "[0].reply"},
				{`{"buttons":[{"type":"reply","reply":"x"}]}`, "invalid_field_value " + path + "[0].reply"},
				{`{"buttons":[{"type":"reply","reply":{}}]}`, "missing_required_field " + path + "[0].reply.id"},
				{two("2", "two"), ""},
				{two("1", "two"), "invalid_field_value " + path + "[1].reply.id"},
				{two("2", "one"), "invalid_field_value " + path + "[1].reply.title"},
			})
		})
	}
}

func TestLinkButtons(t *testing.T) {
	judgeAll(t, action("cta_url"), []ruling{
		{actions["cta_url"], ""},
		{`{}`, "missing_required_field interactive.action.name"},
		{`{"name":null}`, "missing_required_field interactive.action.name"},
		{`{"name":""}`, "invalid_field_value interactive.action.name"},
		{`{"name":"url"}`, "invalid_field_value interactive.action.name"},
		{`{"name":5}`, "invalid_field_value interactive.action.name"},
		{`{"name":"cta_url"}`, "missing_required_field interactive.action.parameters"},
		{`{"name":"cta_url","parameters":null}`, "missing_required_field interactive.action.parameters"},
		{`{"name":"cta_url","parameters":[]}`, "invalid_field_value interactive.action.parameters"},
		{`{"name":"cta_url","parameters":{}}`, "missing_required_field interactive.action.parameters.display_text"},
		{`{"name":"cta_url","parameters":{"display_text":"d","url":"http://x.y"}}`, "invalid_field_value interactive.action.parameters.url"},
		{`{"name":"cta_url","parameters":{"display_text":"d","url":"tel:+15551234567"}}`, "invalid_field_value interactive.action.parameters.url"},
	})
}

// section is a list's section with n rows whose ids begin with name.
func section(name string, n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"%s%d","title":"t"}`, name, i)
	}
	return `{"title":"s","rows":[` + strings.Join(rows, ",") + `]}`
}

func TestLists(t *testing.T) {
	const path = "interactive.action.sections"
	list := func(sections ...string) string {
		return `{"button":"b","sections":[` + strings.Join(sections, ",") + `]}`
	}
	var ten []string
	for i := range 10 {
		ten = append(ten, section(string(rune('a'+i)), 1))
	}
	judgeAll(t, action("list"), []ruling{
		{`{"button":"b"}`, "missing_required_field " + path},
		{`{"button":"b","sections":null}`, "missing_required_field " + path},
		{`{"button":"b","sections":{}}`, "invalid_field_value " + path},
		{list(), "invalid_field_value " + path},
		{list(ten...), ""},
		{list(append(ten, section("k", 1))...), "invalid_field_value " + path},
		{list(`null`), "missing_required_field " + path + "[0]"},
		{list(`[]`), "invalid_field_value " + path + "[0]"},
		{list(`{}`), "missing_required_field " + path + "[0].rows"},
		{list(`{"rows":null}`), "missing_required_field " + path + "[0].rows"},
		{list(`{"rows":[]}`), "invalid_field_value " + path + "[0].rows"},
		{list(`{"rows":"x"}`), "invalid_field_value " + path + "[0].rows"},
		{list(`{"rows":[null]}`), "missing_required_field " + path + "[0].rows[0]"},
		{list(`{"rows":[{}]}`), "missing_required_field " + path + "[0].rows[0].id"},
		{list(`{"rows":[7]}`), "invalid_field_value " + path + "[0].rows[0]"},
		{list(section("a", 10)), ""},
		{list(section("a", 11)), "invalid_field_value " + path + "[0].rows"},
		{list(section("a", 6), section("b", 4)), ""},
		{list(section("a", 6), section("b", 5)), "invalid_field_value " + path + "[1].rows"},
		{list(section("a", 1), section("a", 1)), "invalid_field_value " + path + "[1].rows[0].id"}, // across sections
		{list(section("a", 1), section("b", 1)), ""},                                               // titles may repeat
		{list(`{"rows":[{"id":"1","title":"t"},{"id":"1","title":"u"}]}`), "invalid_field_value " + path + "[0].rows[1].id"},
		{list(`{"rows":[{"id":"1","title":"t"}]}`, section("b", 1)), "missing_required_field " + path + "[0].title"},
	})
}

func TestTheBodyOfAnInteractiveIsItsText(t *testing.T) {
	is := is.New(t)
	for kind := range actions {
		s := accept(t, tapped(kind, `,"body":{"text":"Well?"},"header":{"type":"text","text":"h"}`)).Outgoing()
		is.Equal(*s.Body, "Well?")
		is.Equal(len(s.Media), 0)
	}
}

func TestARequestForContactInfoHasItsName(t *testing.T) {
	judgeAll(t, action("request_contact_info"), []ruling{
		{`{"name":"request_contact_info"}`, ""},
		{`{"name":"request_contact_info","buttons":[],"parameters":{}}`, ""}, // of other types, and left out
		{`{}`, "missing_required_field interactive.action.name"},
		{`{"name":"cta_url"}`, "invalid_field_value interactive.action.name"},
		{`{"name":null}`, "missing_required_field interactive.action.name"},
	})
}
