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

// showManifest handles GET manifest.webmanifest, which describes the console as an app. Its addresses are
// relative to its own. Browsers ask for it without the cookie, so the page says in which language.
func (v *visit) showManifest() error {
	icon := func(file, sizes, kind, purpose string) map[string]string {
		return map[string]string{"src": "assets/" + v.assets().name(file), "sizes": sizes, "type": kind, "purpose": purpose}
	}

	if wanted := v.r.URL.Query().Get("lang"); slices.Contains(language.All(), wanted) {
		v.language = wanted
	}

	v.w.Header().Set("Content-Type", "application/manifest+json")
	v.w.Header().Set("Vary", "Accept-Language")
	return json.NewEncoder(v.w).Encode(map[string]any{
		"lang":             v.language,
		"dir":              language.Direction(v.language),
		"name":             "confab",
		"short_name":       "confab",
		"id":               "./",
		"start_url":        homePage,
		"scope":            "./",
		"display":          "standalone",
		"background_color": appColor,
		"theme_color":      appColor,
		"icons": []map[string]string{
			icon("icon-192.png", "192x192", "image/png", "any maskable"),
			icon("icon-512.png", "512x512", "image/png", "any maskable"),
			icon("icon.svg", "any", "image/svg+xml", "any"), // the default
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
