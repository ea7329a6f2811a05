package provider

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/matryer/is"
)

const callback = `{"object":"whatsapp_business_account","entry":[
 {"id":"102290129340398","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",
   "metadata":{"display_phone_number":"15550783881","phone_number_id":"106540352242922"},
   "contacts":[{"profile":{"name":"Sheena","username":"sheena.n"},"wa_id":"16505551234","user_id":"US.1","parent_user_id":"US.ENT.1"}],
   "messages":[
    {"from":"16505551234","from_user_id":"US.1","id":"wamid.1","timestamp":"1749416383","type":"image","image":{"id":"77","mime_type":"image\/jpeg","sha256":"x","caption":"c","new":1.50},"context":{"from":"1","id":"wamid.0","forwarded":true}},
    {"from_user_id":"US.2","id":"wamid.2","timestamp":1749416384,"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","message":"m","error_data":{"details":"d"}}],"unsupported":{"type":"poll_creation"}},
    {"id":7}]}}]},
 {"id":102290129340399,"time":1739321024,"changes":[
   {"field":"message_template_status_update","value":{"event":"APPROVED","message_template_id":1689556908129832,"message_template_name":"x","message_template_language":"en-US","reason":null}},
   {"field":"something_new","value":{"a":[1,2]}},
   {"field":"account_update","value":{"event":"PARTNER_REMOVED","phone_number":"16505551111","waba_info":{"waba_id":"7","owner_business_id":8},"restriction_info":[{"restriction_type":"x"}]}}]}]}`

func TestACallbackIsReadPieceByPiece(t *testing.T) {
	is := is.New(t)
	all, err := ParseCallback([]byte(callback))
	is.NoErr(err)
	is.Equal(len(all), 4)
	is.Equal(all[0].WABA, "102290129340398")
	is.Equal(all[3].WABA, "102290129340399")

	value, err := Read[Value](all[0].Value)
	is.NoErr(err)
	is.Equal(value.Metadata.PhoneNumberID, ID("106540352242922"))
	profile, err := Read[Profile](value.Contacts[0])
	is.NoErr(err)
	is.Equal(profile.Profile.Username, "sheena.n")

	m, err := Read[Message](value.Messages[0])
	is.NoErr(err)
	is.Equal(m.Timestamp, Int(1749416383))
	is.Equal(m.Context.ID, "wamid.0")
	content := GetMember(value.Messages[0], m.Type)
	is.Equal(string(content), `{"id":"77","mime_type":"image\/jpeg","sha256":"x","caption":"c","new":1.50}`) // as it came
	image, err := Read[Attachment](content)
	is.NoErr(err)
	is.Equal(image, Attachment{ID: "77", Caption: "c"})

	m, err = Read[Message](value.Messages[1])
	is.NoErr(err)
	is.Equal(m.From, "") // known by name only
	is.Equal(string(m.Errors[0].Class().Code), "unsupported_message_type")
	_, err = Read[Message](value.Messages[2])
	is.True(err != nil) // and the others have been read
	is.Equal(err.Error()[:13], "read message:")
}

func TestOtherNewsIsRead(t *testing.T) {
	is := is.New(t)
	all, err := ParseCallback([]byte(callback))
	is.NoErr(err)
	changes := all[1:]
	update, err := Read[TemplateUpdate](changes[0].Value)
	is.NoErr(err)
	is.Equal(update, TemplateUpdate{Event: "APPROVED", ID: "1689556908129832", Name: "x", Language: "en-US"})
	is.Equal(string(changes[1].Value), `{"a":[1,2]}`)
	account, err := Read[AccountUpdate](changes[2].Value)
	is.NoErr(err)
	is.Equal(account.WABA, AccountInfo{ID: "7"})
	is.Equal(len(account.Restrictions), 1)
}

func TestItemsOfEachKindAreRead(t *testing.T) {
	is := is.New(t)
	status, err := Read[Status]([]byte(`{"id":"wamid.1","status":"delivered","timestamp":"1750030073","recipient_id":"1","biz_opaque_callback_data":"msg_1","pricing":{"billable":true},"conversation":{"id":"c"}}`))
	is.NoErr(err)
	is.Equal(status.Tag, "msg_1")

	identity, err := Read[Identity]([]byte(`{"wa_id":"1","user_id":{"previous":"US.1","current":"US.2"},"timestamp":"1750030073"}`))
	is.NoErr(err)
	is.Equal(identity.UserID, IDChange{Previous: "US.1", Current: "US.2"})

	preference, err := Read[Preference]([]byte(`{"wa_id":"1","category":"marketing_messages","value":"stop","timestamp":1750030073}`))
	is.NoErr(err)
	is.Equal(preference.Value, "stop")

	reaction, err := Read[Reaction](GetMember([]byte(`{"reaction":{"message_id":"wamid.1"}}`), "reaction"))
	is.NoErr(err)
	is.Equal(reaction, Reaction{MessageID: "wamid.1"})
	system, err := Read[System]([]byte(`{"body":"x","wa_id":"2","type":"user_changed_number"}`))
	is.NoErr(err)
	is.Equal(system.WaID, "2")
	edit, err := Read[Edit]([]byte(`{"original_message_id":"wamid.1","message":{"type":"text","text":{"body":"new"}}}`))
	is.NoErr(err)
	is.Equal(string(GetMember(GetMember(edit.Message, "text"), "body")), `"new"`)
	revoke, err := Read[Revoke]([]byte(`{"original_message_id":"wamid.1"}`))
	is.NoErr(err)
	is.Equal(revoke.OriginalID, "wamid.1")
}

func TestCallbacksOfOthersAreToldApart(t *testing.T) {
	is := is.New(t)
	_, err := ParseCallback([]byte(`{"object":"page","entry":[]}`))
	is.True(errors.Is(err, ErrOtherObject))
	_, err = ParseCallback([]byte(`{"entry":[]}`))
	is.True(errors.Is(err, ErrOtherObject))
	_, err = ParseCallback([]byte(`{`))
	is.True(err != nil && !errors.Is(err, ErrOtherObject))
}

func TestMembersAreFoundRaw(t *testing.T) {
	for _, test := range []struct{ object, key, want string }{
		{`{"a":1,"b":{"c":[1, 2]}}`, "b", `{"c":[1, 2]}`},
		{`{ "a" : 1.50 }`, "a", `1.50`},
		{`{"\u0061":"x"}`, "a", `"x"`},
		{`{"a":1,"a":2}`, "a", `2`}, // the last one counts, as in decoding
		{`{"b":{"a":1}}`, "a", ``},
		{`[1]`, "a", ``},
		{`{`, "a", ``},
		{``, "a", ``},
	} {
		t.Run(test.object, func(t *testing.T) {
			is.New(t).Equal(string(GetMember([]byte(test.object), test.key)), test.want)
		})
	}
}

func TestNumbersAndIDsComeBareOrQuoted(t *testing.T) {
	is := is.New(t)
	var got struct {
		A, B, C, D, E Int
		F, G, H       ID
	}
	is.NoErr(json.Unmarshal([]byte(`{"A":12,"B":"12","C":null,"D":"","E":-1,"F":12345678901234567890,"G":"x","H":null}`), &got))
	is.Equal(got.A+got.B+got.C+got.D+got.E, Int(23))
	is.Equal(got.F, ID("12345678901234567890"))
	is.Equal(got.G+got.H, ID("x"))
	for _, bad := range []string{`{"A":"x"}`, `{"A":1.5}`, `{"A":[]}`, `{"F":{}}`, `{"F":true}`} {
		is.True(json.Unmarshal([]byte(bad), &got) != nil)
	}
}
