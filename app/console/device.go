package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// maxDevices is how many accounts a browser is remembered for.
const maxDevices = 5

// The device cookie holds an entry for each account that has signed in in this browser:
// the user's id, a random text and a MAC over both. A browser that has one need not wait for
// the failures that others make on the account, so that a stranger cannot keep a person
// out.

// addDevice puts a user in front of the entries of a device cookie.
func (c *Console) addDevice(value, user string) string {
	entries := []string{c.deviceEntry(user, rand.Text())}
	for entry := range strings.SplitSeq(value, "~") {
		id, _, _ := strings.Cut(entry, ".")
		if id != user && c.validDevice(entry, id) && len(entries) < maxDevices {
			entries = append(entries, entry)
		}
	}
	return strings.Join(entries, "~")
}

// knownDevice is the entry of a device cookie that says that the user has signed in before; ""
// without one.
func (c *Console) knownDevice(value, user string) string {
	entries := strings.SplitN(value, "~", maxDevices+1)
	if i := slices.IndexFunc(entries, func(entry string) bool { return c.validDevice(entry, user) }); i >= 0 {
		return entries[i]
	}
	return ""
}

func (c *Console) validDevice(entry, user string) bool {
	parts := strings.Split(entry, ".")
	return len(parts) == 3 && parts[0] == user && hmac.Equal([]byte(entry), []byte(c.deviceEntry(user, parts[1])))
}

func (c *Console) deviceEntry(user, random string) string {
	mac := hmac.New(sha256.New, c.deviceKey)
	mac.Write([]byte(user + "." + random))
	return user + "." + random + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
