package config

import (
	"strings"

	"confab/storage/objects"
)

// IsReplicaURL reports whether a text names a place for a replica, and not a file.
func IsReplicaURL(s string) bool { return strings.Contains(s, "://") && objects.CheckURL(s) == nil }

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
