package console

import (
	"encoding/json"
	"slices"

	"confab/jobs/language"
)

// The console can be installed as an app: the manifest describes it, and the service worker shows
// what is pushed to the browser. Browsers ask for both without a session, by names that never change.

// appColor is that of the icon.
const appColor = "#146b50"

// manifest describes the console as an app. Its addresses are relative to its own.
type manifest struct {
	Language        string         `json:"lang"`
	Direction       string         `json:"dir"`
	Name            string         `json:"name"`
	ShortName       string         `json:"short_name"`
	ID              string         `json:"id"`
	StartURL        string         `json:"start_url"`
	Scope           string         `json:"scope"`
	Display         string         `json:"display"`
	BackgroundColor string         `json:"background_color"`
	ThemeColor      string         `json:"theme_color"`
	Icons           []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

// showManifest handles GET manifest.webmanifest. Browsers ask for it without the cookie, so the page
// says in which language.
func (v *visit) showManifest() error {
	icon := func(file, sizes, kind, purpose string) manifestIcon {
		return manifestIcon{"assets/" + v.assets().name(file), sizes, kind, purpose}
	}

	if wanted := v.r.URL.Query().Get("lang"); slices.Contains(language.All(), wanted) {
		v.language = wanted
	}

	v.w.Header().Set("Content-Type", "application/manifest+json")
	v.w.Header().Set("Vary", "Accept-Language")
	return json.NewEncoder(v.w).Encode(manifest{
		Language:        v.language,
		Direction:       language.Direction(v.language),
		Name:            "confab",
		ShortName:       "confab",
		ID:              "./",
		StartURL:        homePage,
		Scope:           "./",
		Display:         "standalone",
		BackgroundColor: appColor,
		ThemeColor:      appColor,
		Icons: []manifestIcon{
			icon("icon-192.png", "192x192", "image/png", "any maskable"),
			icon("icon-512.png", "512x512", "image/png", "any maskable"),
			icon("icon.svg", "any", "image/svg+xml", ""),
		},
	})
}

// serveWorker handles GET sw.js. Browsers ask each time whether it has changed.
func (v *visit) serveWorker() error {
	file := v.assets().byName["sw.js"]
	v.w.Header().Set("Content-Type", file.contentType)
	v.w.Header().Set("Cache-Control", "no-cache")
	_, err := v.w.Write(file.content())
	return err
}
