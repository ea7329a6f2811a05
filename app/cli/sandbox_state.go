package cli

import (
	"cmp"
	"crypto/rand"
	"math/big"

	"confab/app/datadir"
)

// sandboxState is what a client needs to use the sandbox. Its file is the only
// place where the key is kept.
type sandboxState struct {
	BaseURL        string `json:"base_url"` // with /v1
	ConsoleURL     string `json:"console_url"`
	APIKey         string `json:"api_key"`
	OrganizationID string `json:"organization_id"`
	TeamID         string `json:"team_id"`
	UserID         string `json:"user_id"` // as whom the console signs in visitors of this machine
	simulatorAccess
}

func sandboxFile(dir datadir.Dir) string { return dir.File(datadir.SandboxFile) }

// readSandbox reads what an earlier start has written, and generates the
// credentials of the provider's app where there are none yet.
func readSandbox(dir datadir.Dir) (*sandboxState, error) {
	s := &sandboxState{}
	if _, err := readStateFile(sandboxFile(dir), s); err != nil {
		return nil, err
	}

	s.AppID = cmp.Or(s.AppID, newAppID())
	s.AppSecret = cmp.Or(s.AppSecret, rand.Text())
	s.VerifyToken = cmp.Or(s.VerifyToken, "verify-"+rand.Text())
	s.AccessToken = cmp.Or(s.AccessToken, newAccessToken())
	return s, nil
}

// newAppID generates the id of an app: fifteen digits, like the provider's.
func newAppID() string {
	const smallest, count = 1e14, 9e14
	n, err := rand.Int(rand.Reader, big.NewInt(count))
	if err != nil {
		panic("random: " + err.Error()) // the reader never fails
	}
	return n.Add(n, big.NewInt(smallest)).String()
}

// newAccessToken generates a token that looks like the provider's but is short
// enough to be copied.
func newAccessToken() string { return "EAA" + rand.Text() }
