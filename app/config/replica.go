package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var errReplicaURL = errors.New(`must be s3://bucket/prefix?endpoint=…&region=… or file:///path`)

// replicaParameters are what a URL of S3 may carry beside bucket and prefix.
var replicaParameters = []string{"endpoint", "region", "forcePathStyle"}

// replicaURL accepts where a replica can be kept.
func replicaURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return errReplicaURL
	}

	switch {
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path) && u.Path != "/" && u.RawQuery == "":
		return nil
	case u.Scheme != "s3", u.Hostname() == "":
		return errReplicaURL
	}

	for name, values := range u.Query() {
		if !slices.Contains(replicaParameters, name) || len(values) != 1 {
			return fmt.Errorf("has the parameter %q: it may have %s, each once", name, strings.Join(replicaParameters, ", "))
		}
	}
	if endpoint := u.Query().Get("endpoint"); endpoint != "" && webURL(endpoint) != nil {
		return errors.New("has an endpoint that is not an http or https URL")
	}
	return nil
}

// IsReplicaURL reports whether a text names a place for a replica, and not a file.
func IsReplicaURL(s string) bool { return strings.Contains(s, "://") && replicaURL(s) == nil }

// checkTogether checks the rules between the settings of the replica.
func (r Replica) checkTogether(fail func(key string, value any, problem string)) {
	switch {
	case r.AccessKeyID != "" && r.SecretAccessKey == "":
		fail("replica.access_key_id", r.AccessKeyID, "needs replica.secret_access_key too")
	case r.AccessKeyID == "" && r.SecretAccessKey != "":
		fail("replica.secret_access_key", r.SecretAccessKey, "needs replica.access_key_id too")
	}
	if r.Keep < r.SnapshotEvery {
		fail("replica.keep", r.Keep, "must be at least replica.snapshot_every, which is the step in which it can be kept")
	}
}

// Credentials are the key and its secret, read from their files if they are in files;
// both are empty if the settings have none.
func (r Replica) Credentials() (id, secret string, err error) {
	if id, err = valueOrFile("replica.access_key_id", r.AccessKeyID); err != nil {
		return "", "", err
	}
	secret, err = valueOrFile("replica.secret_access_key", r.SecretAccessKey.Reveal())
	return id, secret, err
}

// valueOrFile is the value of a setting, or the content of the file that it names.
func valueOrFile(key, value string) (string, error) {
	path, isFile := strings.CutPrefix(value, "file:")
	if !isFile {
		return value, nil
	}

	text, err := os.ReadFile(strings.TrimPrefix(path, "//"))
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return strings.TrimSpace(string(text)), nil
}
