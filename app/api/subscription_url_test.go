package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestAWebhookURLHasNoFragment(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks, `{"url":"https://shop.test/hook","events":["*"]}`).text("data.id")
	for _, url := range []string{"https://shop.test/hook#a", "https://shop.test/hook#", "https://shop.test#a"} {
		is.Equal(f.call("POST", hooks, `{"url":"`+url+`","events":["*"]}`).code(), "400 invalid_webhook_url url")
		is.Equal(f.call("PATCH", hooks+"/"+id, `{"url":"`+url+`"}`).code(), "400 invalid_webhook_url url")
	}
	is.Equal(f.call("PATCH", hooks+"/"+id, `{"url":"https://shop.test/hook%23a?b=%23"}`).status, 200)
}
