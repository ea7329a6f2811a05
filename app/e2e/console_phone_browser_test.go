package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/matryer/is"

	"confab/app/config"
	"confab/app/console"
	"confab/app/simulator"
)

// phoneBubble is what a phone shows of a message, by /_sim or on the screen.
type phoneBubble struct {
	ID, Text, Ticks, Reactions string
	Own, Edited, Deleted       bool
}

// phoneHolds reads what the provider holds of a phone.
func (s *stage) phoneHolds(number string) (all []phoneBubble) {
	s.t.Helper()
	var list struct {
		Data []struct {
			ID, Direction, Type string
			Ticks               *string
			Edited, Deleted     bool
			Text                struct{ Body string }
			Card                *struct{ Body string }
			Reactions           []struct{ Emoji string }
		}
	}
	if err := json.Unmarshal(s.exchange("GET", s.simURL+"/_sim/people/"+number+"/messages", ""), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range list.Data {
		one := phoneBubble{ID: m.ID, Own: m.Direction == "inbound", Edited: m.Edited && !m.Deleted, Deleted: m.Deleted, Text: m.Text.Body}
		if m.Card != nil {
			one.Text = m.Card.Body
		}
		if m.Deleted {
			one.Text = ""
		}
		if m.Ticks != nil {
			one.Ticks = *m.Ticks
		}
		for _, r := range m.Reactions {
			one.Reactions += r.Emoji
		}
		all = append(all, one)
	}
	return all
}

// phoneShows reads the bubbles on the screen.
func (c *colleague) phoneShows() []phoneBubble {
	c.t.Helper()
	return eval[[]phoneBubble](c.window, `[...document.querySelectorAll("[role=log] article")].map((a) => {
		const words = a.querySelector(":scope > p[dir]:not(.phone-quote)")?.textContent ?? "", deleted = a.textContent.includes("This message was deleted");
		return { ID: a.dataset.id, Text: deleted ? "" : words, Own: a.classList.contains("own"), Deleted: deleted,
			Edited: a.querySelector(".phone-foot").textContent.startsWith("edited"), Ticks: a.querySelector(".phone-ticks")?.textContent.trim() ?? "",
			Reactions: [...a.querySelectorAll(".phone-reactions span")].map((r) => r.textContent).join("") };
	})`)
}

// phone opens a browser at the phone of a sandbox, with a connected number.
func phone(t *testing.T, change ...func(*config.Config)) (c *colleague, number string) {
	t.Helper()
	s, _ := sandboxed(t, change...)
	number = s.connect()
	c = &colleague{window: openWindow(t), t: t, is: is.New(t), stage: s}
	c.Visit(s.app.URL() + "/console/phone")
	c.heading("Phone")
	return c, number
}

// last waits until the newest message in the chat says something.
func (c *colleague) last(words string) {
	c.t.Helper()
	c.WaitFor(fmt.Sprintf(`[...document.querySelectorAll("[role=log] article")].at(-1)?.textContent.includes(%q)`, words))
}

// newest is the newest message of a direction; nil while there is none.
func (s *stage) newest(number, direction string) map[string]any {
	s.t.Helper()
	var list struct{ Data []map[string]any }
	s.read("/"+number+"/messages?limit=1&direction="+direction, &list)
	if len(list.Data) == 0 {
		return nil
	}
	return list.Data[0]
}

// TestThePhone is about two people's, in one window.
func TestThePhone(t *testing.T) {
	parallelBrowser(t)
	c, number := phone(t)
	thePhoneShowsWhatTheProviderHolds(c)
	aPersonWritesAndChangesIt(c)
	aPersonTapsAndChooses(c, number)
	aPersonSendsAPlaceAndBlocks(c)
	aSimulatorAloneOffersThePhone(c)
}

// thePhoneShowsWhatTheProviderHolds after a thousand things that people and a business did at random
// while it looked on. Ana is the first who has one.
func thePhoneShowsWhatTheProviderHolds(c *colleague) {
	t, s := c.t, c.stage
	post := func(path, body string) string {
		var answer struct{ ID string }
		json.Unmarshal([]byte(askWith(t, "POST", s.simURL+"/_sim/"+path, body, "Content-Type: application/json").body), &answer)
		return answer.ID
	}
	post("people", `{"phone_number":"+15550001111","name":"Ana"}`)
	c.Find("region", "Phone of Ana")

	random := rand.New(rand.NewPCG(3, 4))
	people := []string{"15550001111", "15550002222"}
	ids := map[string][]string{}
	for i := range 1000 {
		who := people[random.IntN(4)/3] // mostly the one on the screen
		some := "wamid.none"
		if n := len(ids[who]); n > 0 {
			some = url.PathEscape(ids[who][random.IntN(n)])
		}
		switch random.IntN(6) {
		case 0:
			ids[who] = append(ids[who], post("inbound", fmt.Sprintf(`{"from":%q,"text":"writes %d"}`, who, i)))
		case 1:
			id := post("echo", fmt.Sprintf(`{"to":%q,"text":"answers <b>%d</b>"}`, who, i))
			ids[who] = append(ids[who], id)
		case 2:
			plain, _ := url.PathUnescape(some)
			post("inbound", fmt.Sprintf(`{"from":%q,"type":"reaction","reaction":{"message_id":%q,"emoji":%q}}`, who, plain, []string{"👍", "❤️", ""}[random.IntN(3)]))
		case 3:
			post("messages/"+some+"/edit", fmt.Sprintf(`{"text":"changed %d"}`, i))
		case 4:
			post("messages/"+some+"/revoke", "{}")
		case 5:
			post("people/"+who+"/read", "{}")
		}
	}

	var holds, shows []phoneBubble
	same := until(func() bool {
		holds, shows = s.phoneHolds("15550001111"), c.phoneShows()
		return fmt.Sprint(holds) == fmt.Sprint(shows)
	})
	c.is.True(len(holds) > 100)
	if !same {
		for i := range min(len(holds), len(shows)) {
			if holds[i] != shows[i] {
				t.Fatalf("message %d is %+v and shown as %+v", i, holds[i], shows[i])
			}
		}
		t.Fatalf("%d messages are held and %d shown", len(holds), len(shows))
	}
	c.calm()
}

// aPersonWritesAndChangesIt: replies, reacts, edits, deletes. It is Eva, whose phone stays open.
func aPersonWritesAndChangesIt(c *colleague) {
	s := c.stage
	s.call("POST", s.simURL+"/_sim/inbound", `{"from":"15550003333","name":"Eva","text":"first"}`)
	c.openAddress("phone/15550003333")
	c.Find("region", "Phone of Eva")
	c.last("first")
	c.Click("button", "Reply")
	c.Fill("textbox", "Write as Eva", "second")
	c.Press("\r")
	c.last("second")
	c.WaitFor(`document.querySelectorAll("article .phone-quote").length === 1`)
	c.clickIn(1, "React")
	c.Click("menuitem", "❤️")
	c.WaitFor(`document.querySelector(".phone-reactions")?.textContent === "❤️"`)
	c.clickIn(1, "More")
	c.Click("menuitem", "Edit")
	c.Fill("textbox", "Write as Eva", "second, better")
	c.Click("button", "Send as Eva")
	c.last("second, better")
	c.clickIn(1, "More")
	c.Click("menuitem", "Delete")
	c.last("This message was deleted")
	c.calm()
}

// aPersonTapsAndChooses on Eva's phone: a button, and an entry of a list.
func aPersonTapsAndChooses(c *colleague, number string) {
	s := c.stage
	s.send(number, "+15550003333", `"type":"interactive","interactive":{"type":"reply_buttons","body":{"text":"Which one?"},"action":{"buttons":[{"type":"reply","reply":{"id":"blue","title":"The blue one"}}]}}`)
	c.Click("button", "The blue one")
	c.last("The blue one")
	c.is.True(until(func() bool { return s.newest(number, "inbound")["type"] == "interactive" }))
	s.send(number, "+15550003333", `"type":"interactive","interactive":{"type":"list","body":{"text":"When?"},"action":{"button":"See times","sections":[{"title":"Today","rows":[{"id":"10","title":"10:00","description":"two left"}]}]}}`)
	c.Click("button", "See times")
	c.Click("button", "10:00")
	c.last("10:00")
	c.calm()
}

// aPersonSendsAPlaceAndBlocks the business, under another name and number than Eva's.
func aPersonSendsAPlaceAndBlocks(c *colleague) {
	c.Click("button", "Attach")
	c.Click("menuitem", "Location…")
	c.Fill("textbox", "Longitude", "east")
	c.Click("button", "Send")
	c.Find("StaticText", "Longitude must be a number.")
	c.is.Equal(c.Describe("textbox", "Longitude").Properties["invalid"], "true") // the form stays, and says where
	c.Fill("textbox", "Longitude", "13.3777")
	c.Click("button", "Send")
	c.last("52.5163, 13.3777")
	c.Click("button", "Person options")
	c.Click("menuitem", "Name and number…")
	c.Fill("textbox", "Name", "Eva Lund")
	c.Fill("textbox", "Number", "+15550009000")
	c.Click("button", "Save")
	c.Find("region", "Phone of Eva Lund")
	c.is.Equal(c.at(), "phone/15550009000")
	c.last("52.5163, 13.3777") // it is the same phone
	c.Click("button", "Person options")
	c.Click("menuitem", "Block this business")
	c.Find("StaticText", "You blocked this business. It can’t message you until you unblock it.")

	// The provider's own settings.
	c.Click("switch", "Reads automatically")
	c.WaitFor(`document.querySelectorAll("[role=switch]:checked").length > 0`)
	c.is.True(until(func() bool { return c.stage.sim.Settings().AutoRead }))
	c.fits()
	c.calm("status of 400")
}

// aSimulatorAloneOffersThePhone at its own address, without signing in.
func aSimulatorAloneOffersThePhone(c *colleague) {
	t, b := c.t, c.window
	sim, err := simulator.New(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	phone := console.NewPhone(sim)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, console.PhonePath) {
			phone.ServeHTTP(w, r)
			return
		}
		sim.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer sim.StopStreams()
	defer b.Visit("about:blank") // which the streams end with
	if _, err := sim.AddNumber(simulator.Number{VerifiedName: "Acme"}); err != nil {
		t.Fatal(err)
	}

	b.Visit(server.URL + console.PhonePath)
	b.Find("heading", "No people yet")
	b.Click("button", "New person")
	b.Fill("textbox", "Name", "Ana")
	b.Click("button", "Save")
	b.Find("region", "Phone of Ana")
	b.Fill("textbox", "Write as Ana", "hello?")
	b.Click("button", "Send as Ana")
	b.WaitFor(`document.querySelector("article")?.textContent.includes("hello?")`)
	b.Find("region", "Provider")
	b.WaitFor(`[...document.querySelectorAll(".provider select")].map(s => s.value).join() === "1,,messages,131026,APPROVED,131026"`) // though the options came later
	complaints, _ := b.news()
	c.is.Equal(len(complaints), 0)
	if got := ask(t, "GET", server.URL+"/_phone/api/sim/people", nil, "Host: evil.test"); got.status != 403 {
		t.Errorf("another name is answered with %d", got.status)
	}
}

// clickIn clicks a button of the nth message.
func (c *colleague) clickIn(n int, name string) {
	c.t.Helper()
	eval[any](c.window, fmt.Sprintf(`void [...document.querySelectorAll("article")][%d].querySelectorAll("button").forEach((b) => b.textContent === %q && b.click())`, n, name))
}

var picture = flag.String("picture", "", "file for the picture of inbox and phone with which the README begins")

// TestThePictureOfTheREADME takes that picture, if asked: make picture.
func TestThePictureOfTheREADME(t *testing.T) {
	if *picture == "" {
		t.Skip("make picture takes it")
	}
	c, number := phone(t)
	s := c.stage
	s.call("POST", s.simURL+"/_sim/numbers", `{"phone_number_id":"`+number+`","verified_name":"Nord Wool"}`)
	for i, one := range [][2]string{
		{"Noor Rahman", "Is the small one back in stock?"}, {"Kenji Tanaka", "Thank you, it has arrived!"}, {"Emma Hughes", "Great, all good now"}, {"Sofia Berg", "Do you ship to Norway?"},
		{"Lucía Prado", "When do you close today?"}, {"Jonas Okafor", "My order is late, could you have a look?"}, {"Ana Ruiz", "Hello! Do you have the wool blankets in stock?"},
	} {
		s.call("POST", s.simURL+"/_sim/inbound", fmt.Sprintf(`{"from":"+1555000%d","name":%q,"text":%q}`, 1117-i, one[0], one[1]))
		c.is.True(until(func() bool {
			m := s.newest(number, "inbound")
			return m != nil && m["text"].(map[string]any)["body"] == one[1]
		}))
	}
	c.Visit(s.app.URL() + "/console/phone/15550001111")
	s.send(number, "+15550001111", `"type":"interactive","interactive":{"type":"reply_buttons","body":{"text":"Hello Ana! Yes, both colours are here. Which one would you like?"},"action":{"buttons":[{"type":"reply","reply":{"id":"blue","title":"The blue one"}},{"type":"reply","reply":{"id":"sand","title":"The sand one"}}]}}`)
	c.Click("button", "The blue one")
	c.last("The blue one")
	c.Fill("textbox", "Write as Ana Ruiz", "And could you gift wrap it?")
	c.Click("button", "Send as Ana Ruiz")
	c.last("And could you gift wrap it?")
	c.Do(chromedp.EmulateViewport(1280, 800, chromedp.EmulateScale(2)))
	c.Click("button", "Show beside the inbox")
	c.Find("region", "Phone of Ana Ruiz")
	c.last("And could you gift wrap it?")
	c.is.NoErr(os.MkdirAll(filepath.Dir(*picture), 0o755))
	c.is.NoErr(os.WriteFile(*picture, c.Screenshot(), 0o644))
}
