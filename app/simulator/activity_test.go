package simulator

import (
	"errors"
	"net/url"
	"testing"

	"github.com/matryer/is"
)

func TestActivitiesInWords(t *testing.T) {
	is := is.New(t)
	s, code := &Server{}, 131026
	refused := &url.Error{Op: "Post", URL: "http://app/", Err: errors.New("connection refused")}
	var said string
	s.Subscribe(func(a Activity) { said = a.Arrow + " " + a.Who + " " + a.What })

	for want, notify := range map[string]func(){
		"← +15550001111 text":  func() { s.notifyMessage(&message{Dir: inbound, Phone: "15550001111", Type: "text"}, nil) },
		"← US.1234 image":      func() { s.notifyMessage(&message{Dir: inbound, BSUID: "US.1234", Type: "image"}, nil) },
		"→ +15550001111 order": func() { s.notifyMessage(&message{Dir: outbound, Phone: "15550001111", Type: "order"}, nil) },
		"→ US.1234 text, will fail with 131026": func() {
			s.notifyMessage(&message{Dir: outbound, BSUID: "US.1234", Type: "text"}, &code)
		},
		"→ +15550001111 text, from the phone": func() {
			s.notifyMessage(&message{Dir: echoed, Phone: "15550001111", Type: "text"}, nil)
		},
		"⇢ callback messages: 200":                              func() { s.notifyCallback("messages", 1, 200, nil) },
		"⇢ callback messages ×7: 200":                           func() { s.notifyCallback("messages", 7, 200, nil) },
		"⇢ callback messages not delivered: connection refused": func() { s.notifyCallback("messages", 1, 0, refused) },
	} {
		notify()
		is.Equal(said, want)
	}
}
