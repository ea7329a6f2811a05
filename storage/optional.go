package storage

// OrEmpty is a text that may be missing: "" if it is.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
