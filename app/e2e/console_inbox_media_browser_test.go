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

func TestPicturesKeepTheirShapeAndOpen(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	says := func(content string) { s.says(number, "15550001111", "Ana Ruiz", content) }
	says(fileOf("image", "image/png", drawnPicture(1200, 400, color.RGBA{60, 120, 180, 255}), `,"caption":"The wide one"`))
	says(fileOf("image", "image/png", drawnPicture(600, 900, color.RGBA{180, 90, 60, 255}), `,"caption":"The tall one"`))
	says(textOf("Which do you like?"))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
	c.article("Which do you like?")

	// The box of a picture does not change when it is loaded, and nothing is cut off.
	c.WaitFor(`[...document.querySelectorAll(".picture img")].filter(i => i.complete && i.naturalWidth > 1).length === 2`)
	c.is.True(eval[bool](c.window, `[...document.querySelectorAll(".picture")].every(p => { const r = p.getBoundingClientRect(); return Math.abs(r.width / r.height - 4 / 3) < .02 })`))
	shapes := `[...document.querySelectorAll(".picture img")].map(i => (i.clientWidth / i.clientHeight).toFixed(1)).join()`
	c.is.Equal(eval[string](c.window, shapes), "3.0,0.7")
	c.shoot("inbox-pictures")

	// One opens, and leads to the others; Esc leads back.
	c.Click("button", "The tall one")
	c.Find("dialog", "Picture")
	shows := func(name string) {
		t.Helper()
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

	// Its shape is known when it is drawn again.
	c.Click("link", "Contacts")
	c.heading("Contacts")
	c.Click("link", "Inbox")
	c.openConversation("Ana Ruiz")
	c.WaitFor(`Math.abs(document.querySelector(".picture")?.clientWidth / document.querySelector(".picture")?.clientHeight - 3) < .05`)
	c.calm()
}

func TestVoiceMessagesArePlayedByKeyboard(t *testing.T) {
	parallelBrowser(t)
	s := newStage(t)
	number := s.connect()
	s.says(number, "15550001111", "Ana Ruiz", fileOf("audio", "audio/wav", silence(75), `,"voice":true`))
	c := s.console(t, storage.RoleAgent)
	c.openConversation("Ana Ruiz")
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
	s.says(number, "15550001111", "Ana Ruiz", textOf("Did you hear it?"))
	c.article("Did you hear it?")
	c.Click("button", "Pause")
	c.Find("button", "Play")
	c.calm()
}
