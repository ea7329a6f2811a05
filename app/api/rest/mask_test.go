package rest

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	someLabel = "lbl_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	somePath  = "/v1/106540352242922/messages/msg_01JQ0Z8M4T9V2X3W5Y6A7B8C9D/media"
)

// Whatever somebody writes into a path, the logs show of it only what is known to be no secret.
func TestALoggedPathShowsNoSecret(t *testing.T) {
	f := serve(t)
	for _, secret := range []string{
		"svc_live_0123456789abcdefABCDEF0123456789", "%73vc_live_0123456789abcdefABCDEF0123456789", "%2573vc_live_0123456789abcdefABCDEF01234567",
		"EAAB2C3D4E5F6G7H2J3K4M5N6P7", "sim_B2C3D4E5F6G7H2J3K4M5N6P7QR", "verify-B2C3D4E5F6G7H2J3K4M5N6P7QR", "csl_0123456789abcdefABCDEF01",
		"AAECAwQFBgcICQoLDA0O+xAREhMU+RYXGBkaGxwdHh8=", "whsec_AAECAwQFBgcICQoLDA0O/xAREhMU+RYXGBkaGxwdHh8=", "correcthorsebatterystaple",
		"correct_horse_battery_staple", "hunter2", "0123456789abcdef0123456789abcdef", "123456789012345678901",
	} {
		for _, base := range []string{"/", "/labels/", "/106540352242922/messages/", "/labels/" + someLabel + "/", "/x/"} {
			f.call("GET", base+secret, "")
			f.call("GET", base+secret+"/"+secret, "")
			f.callAs("", "POST", base+secret, "{}")
			f.call(strings.Map(onlyLetters, secret), "/me", "")
		}
		for _, c := range f.logged() {
			shown := strings.ReplaceAll(strings.ReplaceAll(c.Method+c.Path, someLabel, ""), "106540352242922", "")
			for i := range len(secret) - hintSize {
				piece := secret[i : i+hintSize+1]
				if !strings.Contains(piece, "/") && strings.Contains(shown, piece) {
					t.Fatalf("%s: %s %s", secret, c.Method, c.Path)
				}
			}
		}
	}
}

func onlyLetters(c rune) rune {
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return c
	}
	return -1
}

func TestALoggedPathShowsWhatIsKnown(t *testing.T) {
	is := is.New(t)
	m := pathMask{prefix: "/v1", words: wordsOf([]Route{{Path: "/:phone_number_id/messages/:id/media"}, {Path: "/labels"}}), name: "order_update"}
	for path, want := range map[string]string{
		"/v1":                                    "/v1",
		"/v1/":                                   "/v1/",
		somePath:                                 somePath,
		"/v1/labels/" + someLabel + "/":          "/v1/labels/" + someLabel + "/",
		"/v1/labels/order_update":                "/v1/labels/order_update",
		"/v1/labels/another_one_of_these":        "/v1/labels/anot...",
		"/v1/lables":                             "/v1/lables",
		"/v1/Lables":                             "/v1/...",
		"/v1/abcdefghijklmno":                    "/v1/abcd...",
		"/v1/labels/" + someLabel + "x":          "/v1/labels/lbl_...",
		"/%761/labels":                           "/.../labels",
		"/v1%2Fsvc_live_x":                       "/v1%2Fs...",
		"/v1//labels":                            "/v1//labels",
		"/v1/" + strings.Repeat("X/", 100):       "/v1/" + strings.Repeat(".../", 40)[:124],
		"/v1/labels/" + strings.Repeat("x", 999): "/v1/labels/xxxx...",
	} {
		is.Equal(m.apply(path, maxStrangerPath), want)
	}
}

// Every request is logged twice.
func TestMaskingAPathTakesLittle(t *testing.T) {
	m := pathMask{prefix: "/v1", words: wordsOf([]Route{{Path: "/:phone_number_id/messages/:id/media"}})}
	for path, most := range map[string]float64{somePath: 0, "/v1/%" + strings.Repeat("25/", 8000): 10} {
		if perRun := testing.AllocsPerRun(10, func() { m.apply(path, MaxLoggedPath) }); perRun > most {
			t.Errorf("%.60s: %v allocations", path, perRun)
		}
	}
}

func BenchmarkMaskingAPath(b *testing.B) {
	m := pathMask{prefix: "/v1", words: wordsOf([]Route{{Path: "/:phone_number_id/messages/:id/media"}})}
	for b.Loop() {
		m.apply(somePath, MaxLoggedPath)
	}
}
