package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// textLimit is a text in some content, written as §, and how long it may be.
type textLimit struct {
	kind    string
	content string
	param   string
	most    int    // characters
	absent  string // the field reported as missing without it, "" for nothing
	prefix  string // what its values begin with
}

const (
	replyFrame = `{"type":"reply_buttons","body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"one"}},`
	listFrame  = `{"type":"list","body":{"text":"b"},"action":{"button":"Choose","sections":[`
	linkFrame  = `{"type":"cta_url","body":{"text":"b"},"action":{"name":"cta_url","parameters":{`
	fillFrame  = `{"name":"t","language":"en","components":[`
)

var textLimits = []textLimit{
	{kind: "text", content: `{"body":§}`, param: "text.body", most: 4096, absent: "text.body"},
	{kind: "image", content: `{"id":"m","caption":§}`, param: "image.caption", most: 1024},
	{kind: "video", content: `{"id":"m","caption":§}`, param: "video.caption", most: 1024},
	{kind: "document", content: `{"id":"m","caption":§}`, param: "document.caption", most: 1024},
	{kind: "document", content: `{"id":"m","filename":§}`, param: "document.filename", most: 255},
	{kind: "image", content: `{"id":§}`, param: "image.id", most: 128, absent: "image.link"},
	{kind: "video", content: `{"id":§}`, param: "video.id", most: 128, absent: "video.link"},
	{kind: "document", content: `{"id":§}`, param: "document.id", most: 128, absent: "document.link"},
	{kind: "audio", content: `{"id":§}`, param: "audio.id", most: 128, absent: "audio.link"},
	{kind: "image", content: `{"link":§}`, param: "image.link", most: 2048, absent: "image.link", prefix: "https://x.y/"},
	{kind: "video", content: `{"link":§}`, param: "video.link", most: 2048, absent: "video.link", prefix: "https://x.y/"},
	{kind: "document", content: `{"link":§}`, param: "document.link", most: 2048, absent: "document.link", prefix: "https://x.y/"},
	{kind: "audio", content: `{"link":§}`, param: "audio.link", most: 2048, absent: "audio.link", prefix: "https://x.y/"},
	{kind: "reaction", content: `{"message_id":§,"emoji":""}`, param: "reaction.message_id", most: 512, absent: "reaction.message_id"},

	{kind: "interactive", content: `{"type":"button","header":{"type":"text","text":§},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
		param: "interactive.header.text", most: 60, absent: "interactive.header.text"},
	{kind: "interactive", content: `{"type":"button","footer":{"text":§},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
		param: "interactive.footer.text", most: 60, absent: "interactive.footer.text"},
	{kind: "interactive", content: `{"type":"reply_buttons","body":{"text":§},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
		param: "interactive.body.text", most: 1024, absent: "interactive.body.text"},
	{kind: "interactive", content: `{"type":"cta_url","body":{"text":§},"action":{"name":"cta_url","parameters":{"display_text":"d","url":"https://x.y"}}}`,
		param: "interactive.body.text", most: 1024, absent: "interactive.body.text"},
	{kind: "interactive", content: `{"type":"list","body":{"text":§},"action":{"button":"c","sections":[{"rows":[{"id":"1","title":"t"}]}]}}`,
		param: "interactive.body.text", most: 4096, absent: "interactive.body.text"},
	{kind: "interactive", content: `{"type":"list","header":{"type":"text","text":§},"body":{"text":"b"},"action":{"button":"c","sections":[{"rows":[{"id":"1","title":"t"}]}]}}`,
		param: "interactive.header.text", most: 60, absent: "interactive.header.text"},
	{kind: "interactive", content: replyFrame + `{"type":"reply","reply":{"id":§,"title":"two"}}]}}`,
		param: "interactive.action.buttons[1].reply.id", most: 256, absent: "interactive.action.buttons[1].reply.id"},
	{kind: "interactive", content: replyFrame + `{"type":"reply","reply":{"id":"2","title":§}}]}}`,
		param: "interactive.action.buttons[1].reply.title", most: 20, absent: "interactive.action.buttons[1].reply.title"},
	{kind: "interactive", content: linkFrame + `"display_text":§,"url":"https://x.y"}}}`,
		param: "interactive.action.parameters.display_text", most: 20, absent: "interactive.action.parameters.display_text"},
	{kind: "interactive", content: linkFrame + `"display_text":"d","url":§}}}`,
		param: "interactive.action.parameters.url", most: 2048, absent: "interactive.action.parameters.url", prefix: "https://x.y/"},
	{kind: "interactive", content: `{"type":"list","body":{"text":"b"},"action":{"button":§,"sections":[{"rows":[{"id":"1","title":"t"}]}]}}`,
		param: "interactive.action.button", most: 20, absent: "interactive.action.button"},
	{kind: "interactive", content: listFrame + `{"title":§,"rows":[{"id":"1","title":"t"}]}]}}`,
		param: "interactive.action.sections[0].title", most: 24},
	{kind: "interactive", content: listFrame + `{"title":"a","rows":[{"id":"1","title":"t"}]},{"title":§,"rows":[{"id":"2","title":"t"}]}]}}`,
		param: "interactive.action.sections[1].title", most: 24, absent: "interactive.action.sections[1].title"},
	{kind: "interactive", content: listFrame + `{"rows":[{"id":"1","title":"t"},{"id":§,"title":"t"}]}]}}`,
		param: "interactive.action.sections[0].rows[1].id", most: 200, absent: "interactive.action.sections[0].rows[1].id"},
	{kind: "interactive", content: listFrame + `{"rows":[{"id":"1","title":§}]}]}}`,
		param: "interactive.action.sections[0].rows[0].title", most: 24, absent: "interactive.action.sections[0].rows[0].title"},
	{kind: "interactive", content: listFrame + `{"rows":[{"id":"1","title":"t","description":§}]}]}}`,
		param: "interactive.action.sections[0].rows[0].description", most: 72},
	{kind: "interactive", content: `{"type":"button","header":{"type":"document","document":{"id":"m","filename":§}},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
		param: "interactive.header.document.filename", most: 255},
	{kind: "interactive", content: `{"type":"button","header":{"type":"image","image":{"id":§}},"body":{"text":"b"},"action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"t"}}]}}`,
		param: "interactive.header.image.id", most: 128, absent: "interactive.header.image.link"},

	{kind: "template", content: `{"name":"t","language":§}`, param: "template.language", most: 20, absent: "template.language"},
	{kind: "template", content: `{"name":"t","language":{"code":§}}`, param: "template.language.code", most: 20, absent: "template.language.code"},
	{kind: "template", content: fillFrame + `{"type":"body","parameters":[{"type":"text","text":"a"},{"type":"text","text":§}]}]}`,
		param: "template.components[0].parameters[1].text", most: 32768, absent: "template.components[0].parameters[1].text"},
	{kind: "template", content: fillFrame + `{"type":"body","parameters":[{"type":"currency","currency":{"fallback_value":§,"code":"USD","amount_1000":1}}]}]}`,
		param: "template.components[0].parameters[0].currency.fallback_value", most: 1024, absent: "template.components[0].parameters[0].currency.fallback_value"},
	{kind: "template", content: fillFrame + `{"type":"body","parameters":[{"type":"currency","currency":{"fallback_value":"$1","code":§,"amount_1000":1}}]}]}`,
		param: "template.components[0].parameters[0].currency.code", most: 16, absent: "template.components[0].parameters[0].currency.code"},
	{kind: "template", content: fillFrame + `{"type":"body","parameters":[{"type":"date_time","date_time":{"fallback_value":§}}]}]}`,
		param: "template.components[0].parameters[0].date_time.fallback_value", most: 1024, absent: "template.components[0].parameters[0].date_time.fallback_value"},
	{kind: "template", content: fillFrame + `{"type":"header","parameters":[{"type":"video","video":{"link":§}}]}]}`,
		param: "template.components[0].parameters[0].video.link", most: 2048, absent: "template.components[0].parameters[0].video.link", prefix: "https://x.y/"},
	{kind: "template", content: fillFrame + `{"type":"header","parameters":[{"type":"document","document":{"id":"m","filename":§}}]}]}`,
		param: "template.components[0].parameters[0].document.filename", most: 255},
	{kind: "template", content: fillFrame + `{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":§}]}]}`,
		param: "template.components[0].parameters[0].payload", most: 1024, absent: "template.components[0].parameters[0].payload"},
	{kind: "template", content: fillFrame + `{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":§}]}]}`,
		param: "template.components[0].parameters[0].text", most: 32768, absent: "template.components[0].parameters[0].text"},
	{kind: "template", content: fillFrame + `{"type":"button","sub_type":"copy_code","index":0,"parameters":[{"type":"coupon_code","coupon_code":§}]}]}`,
		param: "template.components[0].parameters[0].coupon_code", most: 20, absent: "template.components[0].parameters[0].coupon_code"},
}

// long is a value of n characters, of which the last takes four bytes.
func (l textLimit) long(n int) string {
	text := l.prefix + strings.Repeat("a", n-len(l.prefix)-1)
	return `"` + text + `👍"`
}

// around is the content before and after the place of the text.
func (l textLimit) around() (before, after string) {
	before, after, found := strings.Cut(l.content, "§")
	if !found {
		panic("no place for a text in " + l.content)
	}
	return before, after
}

// with puts a value in the place of the text.
func (l textLimit) with(value string) string {
	before, after := l.around()
	return message(l.kind, before+value+after)
}

// without leaves the text out.
func (l textLimit) without() string {
	before, after := l.around()
	at := strings.LastIndex(strings.TrimSuffix(before, `":`), `"`)
	return message(l.kind, before[:at]+`"absent":0`+after)
}

func TestEveryTextHasItsLimits(t *testing.T) {
	for _, l := range textLimits {
		t.Run(l.param, func(t *testing.T) {
			is := is.New(t)
			absent, bad := "", "invalid_field_value "+l.param
			if l.absent != "" {
				absent = "missing_required_field " + l.absent
			}
			is.Equal(judge(t, l.without()), absent)                 // absent
			is.Equal(judge(t, l.with("null")), absent)              // null
			is.Equal(judge(t, l.with(`""`)), bad)                   // empty
			is.Equal(judge(t, l.with(`["x"]`)), bad)                // an array
			is.Equal(judge(t, l.with("5")), bad)                    // a number
			is.Equal(judge(t, l.with("false")), bad)                // a truth
			is.Equal(judge(t, l.with(l.long(len(l.prefix)+1))), "") // the shortest
			is.Equal(judge(t, l.with(l.long(l.most))), "")          // the longest
			is.Equal(judge(t, l.with(l.long(l.most+1))), bad)       // one more
		})
	}
}

func TestAnEmojiMayBeEmptyButNotAbsent(t *testing.T) {
	is := is.New(t)
	l := textLimit{kind: "reaction", content: `{"message_id":"a","emoji":§}`}
	is.Equal(judge(t, l.with(`""`)), "")
	is.Equal(judge(t, l.with(`"👍🏽"`)), "")
	is.Equal(judge(t, l.with(l.long(16))), "")
	is.Equal(judge(t, l.with(l.long(17))), "invalid_field_value reaction.emoji")
	is.Equal(judge(t, l.with(`5`)), "invalid_field_value reaction.emoji")
	is.Equal(judge(t, l.with(`null`)), "missing_required_field reaction.emoji")
	is.Equal(judge(t, l.without()), "missing_required_field reaction.emoji")
	is.Equal(judge(t, message("reaction", `{}`)), "missing_required_field reaction.message_id")
}

func TestSwitchesAreTrueOrFalse(t *testing.T) {
	is := is.New(t)
	for _, l := range []textLimit{
		{kind: "text", content: `{"body":"x","preview_url":§}`, param: "text.preview_url"},
		{kind: "audio", content: `{"id":"m","voice":§}`, param: "audio.voice"},
	} {
		for _, value := range []string{`true`, `false`, `null`} {
			is.Equal(judge(t, l.with(value)), "")
		}
		for _, value := range []string{`"true"`, `1`, `{}`, `""`} {
			is.Equal(judge(t, l.with(value)), "invalid_field_value "+l.param)
		}
		is.Equal(judge(t, l.without()), "")
	}
}
