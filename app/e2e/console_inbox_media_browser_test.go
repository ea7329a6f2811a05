package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"confab/storage"
	"confab/storage/storagetest"
)

// drawnPicture is a picture of a size and colour.
func drawnPicture(width, height int, c color.Color) []byte {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	png.Encode(&b, m) // to memory, which cannot fail
	return b.Bytes()
}

// silence is a sound file of some seconds.
func silence(seconds int) []byte {
	const rate = 8000
	var b bytes.Buffer
	size := uint32(seconds * rate)
	b.WriteString("RIFF")
	binary.Write(&b, binary.LittleEndian, 36+size)
	b.WriteString("WAVEfmt ")
	binary.Write(&b, binary.LittleEndian, []uint32{16, 1 | 1<<16, rate, rate, 1 | 8<<16})
	b.WriteString("data")
	binary.Write(&b, binary.LittleEndian, size)
	b.Write(bytes.Repeat([]byte{128}, int(size)))
	return b.Bytes()
}

// fileOf is the content of a message with a file.
func fileOf(kind, mime string, content []byte, more string) string {
	return fmt.Sprintf(`"type":%q,%q:{"data":%q,"mime_type":%q%s}`, kind, kind, base64.StdEncoding.EncodeToString(content), mime, more)
}

// Files are shown and played, and what people change is marked, one after the other in one window.
func TestFilesAndChangesAreShown(t *testing.T) {
	parallelBrowser(t)
	c := newDesk(t, storage.RoleAgent)
	c.opensPictures()
	c.playsVoiceMessagesByKeyboard()
	c.calm()
	c.playsMediaAndMarksChanges()
	c.ignoresAnOldAnswerThatComesLate()
	c.followsAfterAClockWasSetBack()
	c.calm("status of 404")
}

func (c *desk) opensPictures() {
	s, number := c.stage, c.number
	says := func(content string) { s.says(number, "15550001111", "Ana Ruiz", content) }
	says(fileOf("image", "image/png", drawnPicture(1200, 400, color.RGBA{60, 120, 180, 255}), `,"caption":"The wide one"`))
	says(fileOf("image", "image/png", drawnPicture(600, 900, color.RGBA{180, 90, 60, 255}), `,"caption":"The tall one"`))
	says(textOf("Which do you like?"))
	c.openConversation("Ana Ruiz")
	c.article("Which do you like?")

	// The box of a picture does not change when it is loaded, and nothing is cut off.
	c.WaitFor(`[...document.querySelectorAll(".picture img")].filter(i => i.complete && i.naturalWidth > 1).length === 2`)
	c.is.True(eval[bool](c.window, `[...document.querySelectorAll(".picture")].every(p => { const r = p.getBoundingClientRect(); return Math.abs(r.width / r.height - 4 / 3) < .02 })`))
	shapes := `[...document.querySelectorAll(".picture img")].map(i => (i.clientWidth / i.clientHeight).toFixed(1)).join()`
	c.is.Equal(eval[string](c.window, shapes), "3.0,0.7")
	c.shoot("inbox-pictures")
	c.looksAtPictures()

	// Its shape is known when it is drawn again.
	c.Click("link", "Contacts")
	c.heading("Contacts")
	c.Click("link", "Inbox")
	c.openConversation("Ana Ruiz")
	c.WaitFor(`Math.abs(document.querySelector(".picture")?.clientWidth / document.querySelector(".picture")?.clientHeight - 3) < .05`)
}

// One picture opens, and leads to the others; Esc leads back.
func (c *desk) looksAtPictures() {
	c.Click("button", "The tall one")
	c.Find("dialog", "Picture")
	shows := func(name string) {
		c.t.Helper()
		c.WaitFor(fmt.Sprintf(`document.querySelector("dialog img").alt === %q && document.querySelector("dialog img").complete`, name))
	}
	shows("The tall one")
	c.WaitFor(`document.querySelector("dialog .viewer-tools button").ariaDisabled !== "true"`)
	c.shoot("inbox-picture")
	c.Click("button", "Previous picture")
	shows("The wide one")
	c.Press(kb.ArrowRight)
	shows("The tall one")
	c.Press(kb.ArrowLeft)
	shows("The wide one")
	width := `document.querySelector("dialog img").clientWidth`
	before := eval[int](c.window, width)
	c.Click("button", "Zoom in")
	c.WaitFor(fmt.Sprintf(`%s > %d * 1.4`, width, before))
	c.Press("-")
	c.WaitFor(fmt.Sprintf(`%s === %d`, width, before))
	c.Find("link", "Download")
	c.is.True(eval[bool](c.window, `document.querySelector("dialog a[download]").href === document.querySelector("dialog img").src`))
	c.Do(chromedp.EmulateViewport(390, 740))
	c.WaitFor(`document.querySelector("dialog").scrollWidth <= 390 && document.querySelector("dialog .viewer-tools a").getBoundingClientRect().bottom <= 740`)
	c.Press(kb.Escape)
	c.Gone("dialog", "Picture")
	c.WaitFor(`document.querySelector("main").getBoundingClientRect().top === 0 && document.documentElement.scrollWidth <= 390`) // one bar above a thread
	c.Do(chromedp.EmulateViewport(1280, 800))
	c.is.True(eval[bool](c.window, `document.activeElement.matches(".picture") && document.activeElement.textContent === "" && document.activeElement.firstChild.alt === "The tall one"`))
}

func (c *desk) playsVoiceMessagesByKeyboard() {
	s, number := c.stage, c.number
	s.says(number, "15550002222", "Bo Berg", fileOf("audio", "audio/wav", silence(75), `,"voice":true`))
	c.openConversation("Bo Berg")
	c.Find("group", "Voice message")
	position := `document.querySelector(".player input").ariaValueText`
	c.WaitFor(`document.querySelector(".player input")?.ariaValueText === "0:00 of 1:15" && document.querySelector(".player-time").textContent === "1:15"`)
	c.shoot("inbox-voice")

	c.Focus("slider", "Position")
	c.Press(kb.End)
	c.WaitFor(position + ` === "1:15 of 1:15"`)
	c.Press(kb.Home)
	c.WaitFor(position + ` === "0:00 of 1:15"`)
	c.Click("button", "Speed 1×")
	c.Click("button", "Speed 1.5×")
	c.Find("button", "Speed 2×")
	c.Click("button", "Play")
	c.Find("button", "Pause")
	c.WaitFor(`document.querySelector("audio").playbackRate === 2 && document.querySelector("audio").currentTime > 0`)

	// What else happens does not stop it.
	s.says(number, "15550002222", "Bo Berg", textOf("Did you hear it?"))
	c.article("Did you hear it?")
	c.Click("button", "Pause")
	c.Find("button", "Play")
}

// Films, voice notes and stickers are played and shown; what was edited or deleted says so.
func (c *desk) playsMediaAndMarksChanges() {
	s, number := c.stage, c.number
	data := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	says := func(content string) string {
		return s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550003333","name":"Cleo",`+content+`}`)
	}
	first := says(textOf("befor the edit"))
	s.awaitEvent("message.received", byID(first))
	second := says(textOf("a secret"))
	s.awaitEvent("message.received", byID(second))
	c.openConversation("Cleo")
	c.article("a secret")
	says(`"type":"edit","edit":{"original_message_id":"` + first + `","message":{"type":"text","text":{"body":"before the edit"}}}`)
	c.article("before the edit")
	c.article("Edited")
	says(`"type":"revoke","revoke":{"original_message_id":"` + second + `"}`)
	c.article("Deleted by the sender")
	s.says(number, "15550003333", "Cleo", `"type":"video","video":{"data":"`+data("\x00\x00\x00\x18ftypmp42film")+`","mime_type":"video/mp4","caption":"a film"}`)
	s.says(number, "15550003333", "Cleo", `"type":"audio","audio":{"data":"`+data("OggS voice")+`","mime_type":"audio/ogg","voice":true}`)
	s.says(number, "15550003333", "Cleo", `"type":"sticker","sticker":{"data":"`+data("RIFF\x24\x00\x00\x00WEBPVP8 ")+`","mime_type":"image/webp"}`)
	for _, selector := range []string{`video[controls][src*="/media/"]`, `[role=group][aria-label="Voice message"] audio[src*="/media/"]`, `.bare img.sticker[src*="/media/"]`} {
		c.WaitFor(fmt.Sprintf(`document.querySelector(%q) !== null`, "[role=log] "+selector))
	}
	c.shoot("inbox-media")
}

// Of two answers of the server the older may come last: it changes nothing.
func (c *desk) ignoresAnOldAnswerThatComesLate() {
	s, number := c.stage, c.number
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550004444","name":"Dan",`+textOf("zero")+`}`)
	s.awaitEvent("message.received", byID(wamid))
	c.openConversation("Dan")
	c.article("zero")
	eval[any](c.window, `void ((real) => {
		const late = new Promise((resolve) => (globalThis.release = resolve));
		globalThis.fetch = async (url, options) => {
			const response = await real(url, options);
			if (globalThis.held || !/messages\/msg_/.test(url)) return response;
			const text = await response.text();
			globalThis.held = JSON.parse(text).data.text.body;
			await late;
			setTimeout(() => (globalThis.landed = true), 50);
			return new Response(text, response);
		};
	})(fetch)`)
	edit := func(text string) {
		s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550004444","name":"Dan","type":"edit","edit":{"original_message_id":"`+wamid+`","message":{"type":"text","text":{"body":"`+text+`"}}}}`)
	}
	edit("one")
	c.WaitFor(`globalThis.held === "one"`)
	edit("two")
	c.article("two")
	eval[any](c.window, `void release()`)
	c.WaitFor(`globalThis.landed === true`)
	c.article("two")
	c.is.True(!eval[bool](c.window, `[...document.querySelectorAll("article")].some(a => a.textContent.includes("one"))`))
}

// What was changed while the clock of the server was two days ahead is newer by its times
// than all that follows. The screens go by what they asked for last.
func (c *desk) followsAfterAClockWasSetBack() {
	s, number := c.stage, c.number
	s.fill(number, 8, 1)
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550005555","name":"Eva",`+textOf("zero")+`}`)
	s.awaitEvent("message.received", byID(wamid))
	for _, table := range []string{"conversations", "messages"} {
		storagetest.Exec(c.t, s.app.Config.DataDir, `UPDATE `+table+` SET updated_at = updated_at + 2 * 86400000`)
	}
	c.open("", "Inbox")
	c.openConversation("Eva")
	c.article("zero")

	label := `{"label_id":"` + s.label("Gift") + `"}`
	all := storagetest.Select[string](c.t, s.app.Config.DataDir, `SELECT id FROM conversations`)
	for _, id := range all {
		s.call("POST", s.app.URL()+"/v1/"+number+"/conversations/"+id+"/labels", label)
	}
	c.WaitFor(fmt.Sprintf(`document.querySelectorAll("[aria-label=Conversations] li .dot").length === %d`, len(all)))
	s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550005555","name":"Eva","type":"edit","edit":{"original_message_id":"`+wamid+`","message":{"type":"text","text":{"body":"one"}}}}`)
	c.article("one")
}
