package provider

import (
	"runtime"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestNarrowingKeepsAllButTheOtherItems(t *testing.T) {
	is := is.New(t)
	all, err := ParseCallback([]byte(`{"object":"whatsapp_business_account","entry":[{"id":"1"},{"id":"2","time":3,"changes":[{"field":"other"},
		{"value":{"messaging_product":"whatsapp","new":[1],"contacts":[{"wa_id":"1"},{"wa_id":"2"}],"messages":[{"id":"a"},{"id":"b"}],"statuses":[{}],"errors":[]},"field":"messages"}]}],"more":{}}`))
	is.NoErr(err)
	is.Equal(len(all), 2)
	is.Equal(string(all[1].WithOneItem("messages", []byte(`{"id":"b"}`), nil)),
		`{"object":"chat_business_account","entry":[{"id":"2","time":3,"changes":[{"value":{"messaging_product":"chat","new":[1],"contacts":[],"messages":[{"id":"b"}]},"field":"messages"}]}],"more":{}}`)
}

// TestNarrowingCostsWhatTheItemCosts because a callback brings up to a thousand
// items: were all of it read for each, it would be read a thousand times.
func TestNarrowingCostsWhatTheItemCosts(t *testing.T) {
	is := is.New(t)
	item := `{"id":"wamid.1","text":{"body":"` + strings.Repeat("x", 3000) + `"}}`
	all, err := ParseCallback([]byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[` +
		strings.Repeat(item+",", 999) + item + `]}}]}]}`))
	is.NoErr(err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		is.True(len(all[0].WithOneItem("messages", []byte(item), nil)) < 4000)
	}
	runtime.ReadMemStats(&after)
	is.True((after.TotalAlloc-before.TotalAlloc)/100 < 50_000) // bytes for each
}
