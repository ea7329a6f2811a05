package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/api/template"
	"confab/storage"
	"confab/storage/storagetest"
)

// storedTemplates need something each.
var storedTemplates = map[string]storage.Template{
	"plain":    {Components: storage.JSON(`[{"type":"HEADER","format":"TEXT","text":"Hello"},{"type":"BODY","text":"Welcome."},{"type":"FOOTER","text":"f"}]`), ParameterFormat: "POSITIONAL", Category: "UTILITY"},
	"two":      {Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}, order {{2}} came, {{1}}."}]`), ParameterFormat: "POSITIONAL", Category: "UTILITY"},
	"lower":    {Components: storage.JSON(`[{"type":"header","format":"text","text":"On {{1}}!"},{"type":"body","text":"Hi {{ 1 }}!"}]`), ParameterFormat: "POSITIONAL", Category: "UTILITY"},
	"named":    {Components: storage.JSON(`[{"type":"HEADER","format":"TEXT","text":"For {{who}}"},{"type":"BODY","text":"Hi {{who}}, it is {{when}} now."}]`), ParameterFormat: "NAMED", Category: "UTILITY"},
	"image":    {Components: storage.JSON(`[{"type":"HEADER","format":"IMAGE","example":{"header_handle":["4::x"]}},{"type":"BODY","text":"Look."}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"location": {Components: storage.JSON(`[{"type":"HEADER","format":"LOCATION"},{"type":"BODY","text":"Here."}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"buttons": {Components: storage.JSON(`[{"type":"BODY","text":"Look."},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY","text":"Stop"},{"type":"URL","text":"Go","url":"https://x.y/{{1}}","example":["1"]},
		{"type":"URL","text":"Home","url":"https://x.y/"},{"type":"COPY_CODE","example":"SAVE"},{"type":"PHONE_NUMBER","text":"Call","phone_number":"+15551234567"},{"type":"FLOW","text":"Flow"}]}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"cards": {Components: storage.JSON(`[{"type":"BODY","text":"Look, {{1}}."},{"type":"CAROUSEL","cards":[
		{"components":[{"type":"HEADER","format":"IMAGE"},{"type":"BODY","text":"First {{1}}."},{"type":"BUTTONS","buttons":[{"type":"URL","url":"https://x.y/{{1}}"}]}]},
		{"components":[{"type":"HEADER","format":"VIDEO"},{"type":"BODY","text":"Second."},{"type":"BUTTONS","buttons":[{"type":"QUICK_REPLY"}]}]}]}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"offer":   {Components: storage.JSON(`[{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":"Soon","has_expiration":true}},{"type":"BODY","text":"Look."}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"endless": {Components: storage.JSON(`[{"type":"LIMITED_TIME_OFFER","limited_time_offer":{"text":"Ever"}},{"type":"BODY","text":"Look."}]`), ParameterFormat: "POSITIONAL", Category: "MARKETING"},
	"otp":     {Components: storage.JSON(`[{"type":"BODY","add_security_recommendation":true},{"type":"BUTTONS","buttons":[{"type":"OTP","otp_type":"ONE_TAP"}]}]`), ParameterFormat: "POSITIONAL", Category: "AUTHENTICATION"},
	"code":    {Components: storage.JSON(`[{"type":"BODY","text":"*{{1}}* is your verification code."},{"type":"BUTTONS","buttons":[{"type":"URL","url":"https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}"}]}]`), ParameterFormat: "POSITIONAL", Category: "AUTHENTICATION"},
	"bare":    {Components: storage.JSON(`[{"type":"HEADER","format":"TEXT","text":"Only {{1}}"}]`), ParameterFormat: "POSITIONAL", Category: "UTILITY"},
	"unknown": {Components: nil, ParameterFormat: "POSITIONAL"},
}

// Pieces of what messages give.
const (
	textA  = `{"type":"text","text":"A"}`
	textB  = `{"type":"text","text":"B"}`
	imageX = `{"type":"image","image":{"id":"med_1"}}`
	videoX = `{"type":"video","video":{"link":"https://x.y/v.mp4"}}`
	urlTo1 = `{"type":"button","sub_type":"url","index":1,"parameters":[` + textA + `]}`
	code3  = `{"type":"button","sub_type":"copy_code","index":"3","parameters":[{"type":"coupon_code","coupon_code":"SAVE"}]}`
	url0   = `{"type":"button","sub_type":"url","index":"0","parameters":[` + textA + `]}`
	until  = `{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":{"expiration_time_ms":1}}]}`
	first  = `{"card_index":0,"components":[{"type":"header","parameters":[` + imageX + `]},{"type":"body","parameters":[` + textA + `]},` + url0 + `]}`
	second = `{"card_index":1,"components":[{"type":"header","parameters":[` + videoX + `]}]}`
)

func headerOf(parameters ...string) string {
	return `{"type":"header","parameters":[` + strings.Join(parameters, ",") + `]}`
}

func bodyOf(parameters ...string) string {
	return `{"type":"body","parameters":[` + strings.Join(parameters, ",") + `]}`
}

func namedText(name, text string) string {
	return `{"type":"text","text":"` + text + `","parameter_name":"` + name + `"}`
}

func cardsOf(cards ...string) string {
	return `{"type":"carousel","cards":[` + strings.Join(cards, ",") + `]}`
}

// given reads components the way that a request does.
func given(t testing.TB, sent ...string) content.Components {
	t.Helper()
	return accept(t, message("template", fillFrame+strings.Join(sent, ",")+`]}`)).Outgoing().Template.Components
}

func TestWhatIsGivenMustFitTheTemplate(t *testing.T) {
	tests := []struct {
		name     string
		template string
		sent     []string
		param    string // "" where it fits
	}{
		{"nothing needed", "plain", nil, ""},
		{"empty parts", "plain", []string{headerOf(), bodyOf()}, ""},
		{"needless body", "plain", []string{bodyOf(textA)}, "components[0].parameters"},
		{"needless header", "plain", []string{bodyOf(), headerOf(textA)}, "components[1].parameters"},
		{"needless file", "plain", []string{headerOf(imageX)}, "components[0].parameters"},
		{"needless button", "plain", []string{url0}, "components[0].index"},
		{"needless carousel", "plain", []string{cardsOf(second)}, "components[0].cards"},
		{"needless offer", "plain", []string{until}, "components[0].parameters"},
		{"header that is not there", "two", []string{headerOf(textA), bodyOf(textA, textB)}, "components[0].parameters"},

		{"both", "two", []string{bodyOf(textA, textB)}, ""},
		{"money and time", "two", []string{bodyOf(sampleParameters["currency"], sampleParameters["date_time"])}, ""},
		{"one of two", "two", []string{bodyOf(textA)}, "components[0].parameters"},
		{"three of two", "two", []string{bodyOf(textA, textB, textA)}, "components[0].parameters"},
		{"none of two", "two", []string{bodyOf()}, "components[0].parameters"},
		{"no body", "two", nil, "components"},
		{"in small letters", "lower", []string{bodyOf(textA), headerOf(textB)}, ""},
		{"no header", "lower", []string{bodyOf(textA)}, "components"},
		{"a file in a text", "lower", []string{bodyOf(textA), headerOf(imageX)}, "components[1].parameters[0].type"},

		{"named in any order", "named", []string{headerOf(namedText("who", "A")), bodyOf(namedText("when", "B"), namedText("who", "A"))}, ""},
		{"without names", "named", []string{headerOf(namedText("who", "A")), bodyOf(textA, textB)}, "components[1].parameters[0].parameter_name"},
		{"a wrong name", "named", []string{headerOf(namedText("whom", "A"))}, "components[0].parameters[0].parameter_name"},
		{"a name twice", "named", []string{bodyOf(namedText("who", "A"), namedText("who", "B"))}, "components[0].parameters[1].parameter_name"},
		{"too few names", "named", []string{bodyOf(namedText("who", "A"))}, "components[0].parameters"},

		{"image", "image", []string{headerOf(imageX)}, ""},
		{"no image", "image", nil, "components"},
		{"empty header", "image", []string{headerOf()}, "components[0].parameters"},
		{"two images", "image", []string{headerOf(imageX, imageX)}, "components[0].parameters"},
		{"video for image", "image", []string{headerOf(videoX)}, "components[0].parameters[0].type"},
		{"text for image", "image", []string{headerOf(textA)}, "components[0].parameters[0].type"},
		{"location", "location", []string{headerOf(sampleParameters["location"])}, ""},
		{"image for location", "location", []string{headerOf(imageX)}, "components[0].parameters[0].type"},

		{"buttons", "buttons", []string{urlTo1, code3}, ""},
		{"all buttons", "buttons", []string{code3, urlTo1, `{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"p"}]}`,
			`{"type":"button","sub_type":"url","index":2}`, `{"type":"button","sub_type":"flow","index":5,"parameters":[{"type":"action","action":{}}]}`}, ""},
		{"no link", "buttons", []string{code3}, "components"},
		{"no code", "buttons", []string{urlTo1}, "components"},
		{"empty link", "buttons", []string{code3, `{"type":"button","sub_type":"url","index":1}`}, "components[1].parameters"},
		{"link without variable", "buttons", []string{`{"type":"button","sub_type":"url","index":2,"parameters":[` + textA + `]}`}, "components[0].parameters"},
		{"no such button", "buttons", []string{`{"type":"button","sub_type":"url","index":6,"parameters":[` + textA + `]}`}, "components[0].index"},
		{"another sub type", "buttons", []string{`{"type":"button","sub_type":"quick_reply","index":1}`}, "components[0].sub_type"},
		{"a call", "buttons", []string{urlTo1, code3, `{"type":"button","sub_type":"url","index":4,"parameters":[` + textA + `]}`}, "components[2].parameters"},

		{"cards", "cards", []string{bodyOf(textA), cardsOf(first, second)}, ""},
		{"cards in any order", "cards", []string{cardsOf(second, first), bodyOf(textA)}, ""},
		{"no cards", "cards", []string{bodyOf(textA)}, "components"},
		{"one card of two", "cards", []string{bodyOf(textA), cardsOf(first)}, "components[1].cards"},
		{"no such card", "cards", []string{bodyOf(textA), cardsOf(first, storagetest.Swap(t, second, ":1", ":7"))}, "components[1].cards[1].card_index"},
		{"a card without its file", "cards", []string{bodyOf(textA), cardsOf(first, `{"card_index":1}`)}, "components[1].cards[1].components"},
		{"a card with a wrong file", "cards", []string{bodyOf(textA), cardsOf(first, storagetest.Swap(t, second, videoX, imageX))}, "components[1].cards[1].components[0].parameters[0].type"},
		{"a card without its link", "cards", []string{bodyOf(textA), cardsOf(storagetest.Swap(t, first, ","+url0, ""), second)}, "components[1].cards[0].components"},
		{"a card with too much text", "cards", []string{bodyOf(textA), cardsOf(storagetest.Swap(t, first, textA, textA+","+textB), second)}, "components[1].cards[0].components[1].parameters"},

		{"offer", "offer", []string{until}, ""},
		{"offer without end", "offer", nil, "components"},
		{"offer with an empty end", "offer", []string{`{"type":"limited_time_offer"}`}, "components[0].parameters"},
		{"endless offer", "endless", nil, ""},

		{"code and button", "otp", []string{bodyOf(textA), url0}, ""},
		{"code alone", "otp", []string{bodyOf(textA)}, "components"},
		{"button alone", "otp", []string{url0}, "components"},
		{"code as synced", "code", []string{bodyOf(textA), url0}, ""},
		{"two codes", "code", []string{bodyOf(textA, textB), url0}, "components[0].parameters"},
		{"code by another button", "code", []string{bodyOf(textA), storagetest.Swap(t, code3, `"3"`, `0`)}, "components[1].sub_type"},

		{"two payloads", "buttons", []string{`{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"p"},{"type":"payload","payload":"q"}]}`}, "components[0].parameters"},
		{"body that is not there", "bare", []string{headerOf(textA), bodyOf(textA)}, "components[1].parameters"},
		{"a template that is not known well", "unknown", []string{bodyOf(textA), url0}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			want := ""
			if tt.param != "" {
				want = "invalid_field_value template." + tt.param
			}
			is.Equal(verdict(t, parsed(t, storedTemplates[tt.template]).CheckParameters(given(t, tt.sent...))), want)
		})
	}
}

func parsed(t testing.TB, stored storage.Template) template.Stored {
	t.Helper()
	s, err := template.Parse(stored)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rendered is a template's body with its parameters, which must fit into it.
func rendered(t testing.TB, stored storage.Template, sent content.Components) *string {
	t.Helper()
	text, err := parsed(t, stored).Render(sent)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A body may name one variable many times: what comes of it is bounded, not only what
// is sent.
func TestAFilledBodyIsBounded(t *testing.T) {
	is := is.New(t)
	often := storage.Template{Components: storage.JSON(`[{"type":"BODY","text":"Hi` + strings.Repeat(" {{1}}", 64) + `"}]`), ParameterFormat: "POSITIONAL"}
	text := func(n int) content.Components {
		return given(t, bodyOf(`{"type":"text","text":"`+strings.Repeat("ä", n)+`"}`))
	}
	is.Equal(utf8.RuneCountInString(*rendered(t, often, text(512))), 2+64*(1+512))
	_, err := parsed(t, often).Render(text(513))
	is.Equal(verdict(t, err), "invalid_field_value template.components")
	_, err = parsed(t, often).Render(text(32768))
	is.Equal(verdict(t, err), "invalid_field_value template.components")
}

func TestATemplateIsRenderedWithItsParameters(t *testing.T) {
	tests := []struct {
		template string
		sent     []string
		want     string
	}{
		{"plain", nil, "Welcome."},
		{"two", []string{bodyOf(textA, textB)}, "Hi A, order B came, A."},
		{"two", []string{bodyOf(`{"type":"text","text":"{{2}} $1 \\1"}`, textB)}, `Hi {{2}} $1 \1, order B came, {{2}} $1 \1.`}, // once is enough
		{"two", []string{bodyOf(sampleParameters["currency"], sampleParameters["date_time"])}, "Hi $1, order today came, $1."},
		{"lower", []string{headerOf(textB), bodyOf(textA)}, "Hi A!"},
		{"named", []string{bodyOf(namedText("when", "late"), namedText("who", "Ana"))}, "Hi Ana, it is late now."},
		{"cards", []string{cardsOf(first, second), bodyOf(textB)}, "Look, B."},
		{"code", []string{url0, bodyOf(textA)}, "*A* is your verification code."},
		{"two", nil, "Hi {{1}}, order {{2}} came, {{1}}."},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			is := is.New(t)
			is.Equal(*rendered(t, storedTemplates[tt.template], given(t, tt.sent...)), tt.want)
		})
	}
	is := is.New(t)
	is.Equal(rendered(t, storedTemplates["otp"], given(t, bodyOf(textA))), nil) // the provider's text is not known yet
	is.Equal(rendered(t, storedTemplates["unknown"], nil), nil)
}

func TestOnlyTemplatesForCodesNeedANumber(t *testing.T) {
	is := is.New(t)
	for name, stored := range storedTemplates {
		is.Equal(parsed(t, stored).SupportsBSUID(), name != "otp" && name != "code")
		stored.Category = "" // as in templates from before it was recorded
		is.Equal(parsed(t, stored).SupportsBSUID(), name != "otp" && name != "code")
	}
}

func TestAStoredTemplateThatCannotBeReadIsOurFault(t *testing.T) {
	is := is.New(t)
	for _, broken := range []string{`[{"type":5}]`, `{}`} {
		_, err := template.Parse(storage.Template{Components: storage.JSON(broken)})
		is.Equal(rest.AsError(err).Code, rest.InternalError)
	}
}

func TestATextThatTheProviderForbidsInTemplatesIsRefused(t *testing.T) {
	stored := storage.Template{Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}"}]`), ParameterFormat: "POSITIONAL"}
	for text, want := range map[string]string{
		`a\nb`: "invalid_field_value template.components[0].parameters[0].text", `a\tb`: "invalid_field_value template.components[0].parameters[0].text",
		`a     b`: "invalid_field_value template.components[0].parameters[0].text", `a    b`: "",
	} {
		if got := verdict(t, parsed(t, stored).CheckParameters(given(t, bodyOf(`{"type":"text","text":"`+text+`"}`)))); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestAsManyParametersAsVariablesFit checks counting and rendering against a
// body that is put together from known pieces.
func TestAsManyParametersAsVariablesFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.StringMatching(`[a-z{}$\\0-9]{1,5}`), 0, 12).Draw(rt, "values")
		extra := rapid.IntRange(-1, 1).Draw(rt, "extra")
		text, want, parameters := "Hi", "Hi", []string{}
		for i, v := range values {
			text += " {{" + strconv.Itoa(i+1) + "}}"
			want += " " + v
			quoted, _ := json.Marshal(v)
			parameters = append(parameters, `{"type":"text","text":`+string(quoted)+`}`)
		}
		quoted, _ := json.Marshal(text)
		stored := storage.Template{Components: storage.JSON(`[{"type":"BODY","text":` + string(quoted) + `}]`), ParameterFormat: "POSITIONAL"}
		fits := given(t, bodyOf(parameters...))
		if got := verdict(t, parsed(t, stored).CheckParameters(fits)); got != "" {
			rt.Fatalf("%s: %s", text, got)
		}
		if got := *rendered(t, stored, fits); got != want {
			rt.Fatalf("%q is not %q", got, want)
		}
		switch {
		case extra > 0:
			parameters = append(parameters, textA)
		case extra < 0 && len(parameters) > 0:
			parameters = parameters[1:]
		default:
			return
		}
		if got := verdict(t, parsed(t, stored).CheckParameters(given(t, bodyOf(parameters...)))); got != "invalid_field_value template.components[0].parameters" {
			rt.Fatalf("%s: %q", text, got)
		}
	})
}
