package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/content"
	"confab/storage/storagetest"
)

func TestTemplateNamesAreTrimmedAndChecked(t *testing.T) {
	body := func(in string) string { return message("template", `{"language":"en_US","name":`+in+`}`) }
	longest := strings.Repeat("a", 512)
	judgeAll(t, body, []ruling{
		{`null`, "missing_required_field template.name"},
		{`""`, "invalid_field_value template.name"},
		{`" \t\n "`, "invalid_field_value template.name"},
		{`5`, "invalid_field_value template.name"},
		{`"order_update_2"`, ""},
		{`" order_update\n"`, ""},
		{`"` + longest + `"`, ""},
		{`"  ` + longest + `  "`, ""},
		{`"` + longest + `a"`, "invalid_field_value template.name"},
		{`"Order"`, "invalid_template_name template.name"},
		{`"order update"`, "invalid_template_name template.name"},
		{`"order-update"`, "invalid_template_name template.name"},
		{`"bestellung_ä"`, "invalid_template_name template.name"},
	})
	is := is.New(t)
	is.Equal(judge(t, message("template", `{"language":"en_US"}`)), "missing_required_field template.name")
}

func TestALanguageIsACodeOrAnObjectWithOne(t *testing.T) {
	is := is.New(t)
	is.Equal(judge(t, message("template", `{"name":"a","language":[]}`)), "invalid_field_value template.language")
	is.Equal(judge(t, message("template", `{"name":"a","language":{"code":{}}}`)), "invalid_field_value template.language.code")
	for _, language := range []string{`"pt_BR"`, `{"code":"pt_BR"}`, `{"code":"pt_BR","policy":"deterministic"}`, `"pt\u005fBR"`} {
		s := accept(t, message("template", `{"name":" a ","language":`+language+`,"components":[{"type":"body"}]}`)).Outgoing()
		is.Equal(s.Template.Name, "a")
		is.Equal(s.Template.Language, "pt_BR")
		is.Equal(len(s.Template.Components), 1)
		is.Equal(s.Body, nil) // known only with the stored template
	}
}

func TestTemplateComponents(t *testing.T) {
	const path = "template.components"
	body := func(in string) string { return message("template", `{"name":"a","language":"en","components":`+in+`}`) }
	judgeAll(t, body, []ruling{
		{`null`, ""},
		{`[]`, ""},
		{`{}`, "invalid_field_value " + path},
		{`[null]`, "missing_required_field " + path + "[0]"},
		{`["body"]`, "invalid_field_value " + path + "[0]"},
		{`[{}]`, "missing_required_field " + path + "[0].type"},
		{`[{"type":null}]`, "missing_required_field " + path + "[0].type"},
		{`[{"type":""}]`, "invalid_field_value " + path + "[0].type"},
		{`[{"type":"footer"}]`, "invalid_field_value " + path + "[0].type"},
		{`[{"type":"BODY"}]`, "invalid_field_value " + path + "[0].type"},
		{`[{"type":5}]`, "invalid_field_value " + path + "[0].type"},
		{`[{"type":"body"},{"type":"header"},{"type":"limited_time_offer"}]`, ""},
		{`[{"type":"body"},{"type":"header"},{"type":"body"}]`, "invalid_field_value " + path + "[2].type"},
		{`[{"type":"body","parameters":null}]`, ""},
		{`[{"type":"body","parameters":[]}]`, ""},
		{`[{"type":"body","parameters":{}}]`, "invalid_field_value " + path + "[0].parameters"},
		{`[{"type":"body","parameters":[null]}]`, "missing_required_field " + path + "[0].parameters[0]"},
		{`[{"type":"body","parameters":["x"]}]`, "invalid_field_value " + path + "[0].parameters[0]"},
		{`[{"type":"body","parameters":[{}]}]`, "missing_required_field " + path + "[0].parameters[0].type"},
		{`[{"type":"body","parameters":[{"type":""}]}]`, "invalid_field_value " + path + "[0].parameters[0].type"},
		{`[{"type":"body","parameters":[{"type":"number"}]}]`, "invalid_field_value " + path + "[0].parameters[0].type"},
		{`[{"type":"body","parameters":[{"type":"text","text":"a","parameter_name":5}]}]`, "invalid_field_value " + path + "[0].parameters[0].parameter_name"},
	})
}

// sampleParameters are one parameter of each type.
var sampleParameters = map[string]string{
	"text":               `{"type":"text","text":"a"}`,
	"currency":           `{"type":"currency","currency":{"fallback_value":"$1","code":"USD","amount_1000":1000}}`,
	"date_time":          `{"type":"date_time","date_time":{"fallback_value":"today","year":2026}}`,
	"image":              `{"type":"image","image":{"id":"m"}}`,
	"video":              `{"type":"video","video":{"id":"m"}}`,
	"document":           `{"type":"document","document":{"id":"m"}}`,
	"gif":                `{"type":"gif","gif":{"id":"m"}}`,
	"location":           `{"type":"location","location":{"latitude":1.5,"longitude":"-2"}}`,
	"product":            `{"type":"product","product":{"product_retailer_id":"1"}}`,
	"payload":            `{"type":"payload","payload":"p"}`,
	"coupon_code":        `{"type":"coupon_code","coupon_code":"SAVE"}`,
	"action":             `{"type":"action","action":{"flow_token":"t"}}`,
	"limited_time_offer": `{"type":"limited_time_offer","limited_time_offer":{"expiration_time_ms":1698562800000}}`,
}

func TestEachPartTakesItsParameters(t *testing.T) {
	for part, types := range content.ParameterTypes {
		open := `{"type":"` + part + `",`
		if part != "header" && part != "body" && part != "limited_time_offer" {
			open = `{"type":"button","sub_type":"` + part + `","index":0,`
		}
		for kind, parameter := range sampleParameters {
			t.Run(part+" "+kind, func(t *testing.T) {
				is := is.New(t)
				want := "invalid_field_value template.components[0].parameters[0].type"
				for _, one := range types {
					if one == kind {
						want = ""
					}
				}
				is.Equal(judge(t, message("template", fillFrame+open+`"parameters":[`+parameter+`]}]}`)), want)
				if want == "" {
					absent := storagetest.Swap(t, parameter, `"`+kind+`":`, `"absent":`)
					is.Equal(judge(t, message("template", fillFrame+open+`"parameters":[`+absent+`]}]}`)), "missing_required_field template.components[0].parameters[0]."+kind)
				}
			})
		}
	}
}

func TestValuesOfParameters(t *testing.T) {
	const path = "template.components[0].parameters[0]."
	header := func(in string) string {
		return message("template", fillFrame+`{"type":"header","parameters":[{"type":"location","location":`+in+`}]}]}`)
	}
	judgeAll(t, header, []ruling{
		{`{"latitude":90,"longitude":180,"name":"n","address":"a"}`, ""},
		{`{"latitude":"-90","longitude":"-180"}`, ""},
		{`{"latitude":90.1,"longitude":0}`, "invalid_field_value " + path + "location.latitude"},
		{`{"latitude":0,"longitude":-180.1}`, "invalid_field_value " + path + "location.longitude"},
		{`{"longitude":0}`, "missing_required_field " + path + "location.latitude"},
		{`{"latitude":0,"longitude":null}`, "missing_required_field " + path + "location.longitude"},
		{`{"latitude":"","longitude":0}`, "invalid_field_value " + path + "location.latitude"},
		{`{"latitude":"null","longitude":0}`, "invalid_field_value " + path + "location.latitude"},
		{`{"latitude":"NaN","longitude":0}`, "invalid_field_value " + path + "location.latitude"},
		{`{"latitude":true,"longitude":0}`, "invalid_field_value " + path + "location.latitude"},
		{`{"latitude":0,"longitude":0,"name":5}`, "invalid_field_value " + path + "location.name"},
		{`"here"`, "invalid_field_value " + path + "location"},
	})
	currency := func(in string) string {
		return message("template", fillFrame+`{"type":"body","parameters":[{"type":"currency","currency":{"fallback_value":"$1","code":"USD","amount_1000":`+in+`}}]}]}`)
	}
	judgeAll(t, currency, []ruling{
		{`1000`, ""}, {`"1000"`, ""}, {`-5`, ""},
		{`null`, "missing_required_field " + path + "currency.amount_1000"},
		{`1.5`, "invalid_field_value " + path + "currency.amount_1000"},
		{`"much"`, "invalid_field_value " + path + "currency.amount_1000"},
	})
	offer := func(in string) string {
		return message("template", fillFrame+`{"type":"limited_time_offer","parameters":[{"type":"limited_time_offer","limited_time_offer":`+in+`}]}]}`)
	}
	judgeAll(t, offer, []ruling{
		{`{"expiration_time_ms":"1698562800000"}`, ""},
		{`{}`, "missing_required_field " + path + "limited_time_offer.expiration_time_ms"},
		{`{"expiration_time_ms":null}`, "missing_required_field " + path + "limited_time_offer.expiration_time_ms"},
		{`{"expiration_time_ms":"soon"}`, "invalid_field_value " + path + "limited_time_offer.expiration_time_ms"},
	})
	is := is.New(t)
	for _, wrong := range []string{`"x"`, `[]`, `5`} {
		is.Equal(judge(t, message("template", fillFrame+`{"type":"button","sub_type":"flow","index":0,"parameters":[{"type":"action","action":`+wrong+`}]}]}`)), "invalid_field_value "+path+"action")
		is.Equal(judge(t, message("template", fillFrame+`{"type":"header","parameters":[{"type":"product","product":`+wrong+`}]}]}`)), "invalid_field_value "+path+"product")
	}
}

func TestButtonsHaveASubTypeAndAnIndex(t *testing.T) {
	const path = "template.components[0]."
	body := func(in string) string { return message("template", fillFrame+`{"type":"button"`+in+`}]}`) }
	judgeAll(t, body, []ruling{
		{``, "missing_required_field " + path + "sub_type"},
		{`,"sub_type":null,"index":0`, "missing_required_field " + path + "sub_type"},
		{`,"sub_type":"","index":0`, "invalid_field_value " + path + "sub_type"},
		{`,"sub_type":"phone","index":0`, "invalid_field_value " + path + "sub_type"},
		{`,"sub_type":5,"index":0`, "invalid_field_value " + path + "sub_type"},
		{`,"sub_type":"url"`, "missing_required_field " + path + "index"},
		{`,"sub_type":"url","index":null`, "missing_required_field " + path + "index"},
		{`,"sub_type":"url","index":0`, ""},
		{`,"sub_type":"url","index":"0"`, ""},
		{`,"sub_type":"url","index":9`, ""},
		{`,"sub_type":"url","index":"9"`, ""},
		{`,"sub_type":"url","index":10`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":"10"`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":-1`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":1.5`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":""`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":"one"`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":[]`, "invalid_field_value " + path + "index"},
		{`,"sub_type":"url","index":0},{"type":"button","sub_type":"url","index":"0"`, "invalid_field_value template.components[1].index"},
		{`,"sub_type":"url","index":0},{"type":"button","sub_type":"url","index":"1"`, ""},
	})
}

func TestCards(t *testing.T) {
	const path = "template.components[0].cards"
	body := func(in string) string { return message("template", fillFrame+`{"type":"carousel","cards":`+in+`}]}`) }
	cards := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, `{"card_index":`+string(rune('0'+i))+`}`)
		}
		return `[` + strings.Join(all, ",") + `]`
	}
	judgeAll(t, body, []ruling{
		{`null`, "missing_required_field " + path},
		{`[]`, "invalid_field_value " + path},
		{`{}`, "invalid_field_value " + path},
		{cards(1), ""},
		{cards(10), ""},
		{`[` + strings.Trim(cards(10), "[]") + `,{"card_index":0}]`, "invalid_field_value " + path},
		{`[null]`, "missing_required_field " + path + "[0]"},
		{`[{}]`, "missing_required_field " + path + "[0].card_index"},
		{`[{"card_index":"0"}]`, ""},
		{`[{"card_index":10}]`, "invalid_field_value " + path + "[0].card_index"},
		{`[{"card_index":-1}]`, "invalid_field_value " + path + "[0].card_index"},
		{`[{"card_index":"x"}]`, "invalid_field_value " + path + "[0].card_index"},
		{`[{"card_index":0},{"card_index":0}]`, "invalid_field_value " + path + "[1].card_index"},
		{`[{"card_index":0,"components":[{"type":"header"},{"type":"body"},{"type":"button","sub_type":"url","index":0}]}]`, ""},
		{`[{"card_index":0,"components":{}}]`, "invalid_field_value " + path + "[0].components"},
		{`[{"card_index":0,"components":[null]}]`, "missing_required_field " + path + "[0].components[0]"},
		{`[{"card_index":0,"components":[{}]}]`, "missing_required_field " + path + "[0].components[0].type"},
		{`[{"card_index":0,"components":[{"type":"carousel"}]}]`, "invalid_field_value " + path + "[0].components[0].type"},
		{`[{"card_index":0,"components":[{"type":"header"},{"type":"header"}]}]`, "invalid_field_value " + path + "[0].components[1].type"},
		{`[{"card_index":0,"components":[{"type":"body","parameters":[{"type":"text","text":""}]}]}]`, "invalid_field_value " + path + "[0].components[0].parameters[0].text"},
	})
	is := is.New(t)
	is.Equal(judge(t, message("template", fillFrame+`{"type":"carousel","cards":[{"card_index":0}]},{"type":"carousel","cards":[{"card_index":0}]}]}`)), "invalid_field_value template.components[1].type")
}
