package provider

import "time"

// NewestVersion is the newest version of the provider's API that we know, and the one that is
// used unless the settings say otherwise.
const NewestVersion = "v26.0"

// VersionEnd returns when the provider ends a version of its API, as far as it has said so.
// The time is zero for one without an end; known is false for a version that we do not know.
func VersionEnd(version string) (end time.Time, known bool) {
	switch version {
	case "v20.0":
		return utcDate(2026, time.September, 24), true
	case "v21.0":
		return utcDate(2027, time.January, 21), true
	case "v22.0":
		return utcDate(2027, time.May, 20), true
	case "v23.0":
		return utcDate(2027, time.October, 8), true
	case "v24.0":
		return utcDate(2028, time.February, 18), true
	case "v25.0":
		return utcDate(2028, time.July, 29), true
	case NewestVersion:
		return time.Time{}, true
	}
	return time.Time{}, false
}

func utcDate(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
