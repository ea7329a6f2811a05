package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"confab/app"
	"confab/app/config"
	"confab/storage"
)

const (
	sandboxFileName = "sandbox.json"
	// sandboxOrganization is the name by which a sandbox knows its own
	// organization again should its file be lost.
	sandboxOrganization = "Sandbox"
	sandboxKeyLabel     = "sandbox"
)

// sandboxState is what a client needs to use the sandbox. Its file is the only
// place where the key is kept.
type sandboxState struct {
	BaseURL        string `json:"base_url"` // with /v1, as the API's description has it
	APIKey         string `json:"api_key"`
	OrganizationID string `json:"organization_id"`
	TeamID         string `json:"team_id"`
}

func sandboxFile(dir app.DataDir) string { return filepath.Join(string(dir), sandboxFileName) }

// readSandbox reads what an earlier start has written; nothing before the first.
func readSandbox(dir app.DataDir) (*sandboxState, error) {
	s := &sandboxState{}
	text, err := os.ReadFile(sandboxFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove the file to get a new key", sandboxFile(dir), err)
	}
	return s, nil
}

// write replaces the file in one step: clients read it at any time.
func (s *sandboxState) write(dir app.DataDir) error {
	temp, err := os.CreateTemp(string(dir), "."+sandboxFileName+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	err = errors.Join(printJSON(temp, s), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), sandboxFile(dir))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// seed makes what is missing: the organization and a key that works. What an
// earlier start made is kept.
func (s *sandboxState) seed(tx *storage.Tx) error {
	o, err := s.organization(tx)
	if err != nil {
		return err
	}
	teams, err := tx.Teams(o.ID)
	if err != nil {
		return err
	}
	s.OrganizationID, s.TeamID = o.PublicID, teams[0].PublicID

	k, owner, err := tx.KeyByHash(storage.KeyHash(s.APIKey))
	switch {
	case err == nil && owner.ID == o.ID && k.RevokedAt == 0 && k.ExpiresAt == 0:
		return nil
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	}
	label := sandboxKeyLabel
	s.APIKey, err = tx.InsertKey(&storage.Key{OrganizationID: o.ID, Label: &label})
	return err
}

// organization finds or makes the sandbox's own. It makes none beside those of
// an installation that is no sandbox.
func (s *sandboxState) organization(tx *storage.Tx) (storage.Organization, error) {
	all, err := tx.Organizations()
	if err != nil {
		return storage.Organization{}, err
	}
	for _, o := range all {
		if o.PublicID == s.OrganizationID || s.OrganizationID == "" && o.Name == sandboxOrganization {
			return o, nil
		}
	}
	if len(all) > 0 {
		return storage.Organization{}, errors.New("the data directory belongs to a server and not to a sandbox: choose another with --data-dir")
	}
	o := storage.Organization{Name: sandboxOrganization, Plan: config.SelfHosted}
	_, err = tx.InsertOrganization(&o)
	return o, err
}
