package storage

import (
	"crypto/rand"
	"encoding/hex"

	"confab/storage/sqlite"
)

// The rows of meta about the replica.
const (
	// otherCommitsName counts the transactions of commands that ran beside a server.
	otherCommitsName = "other_commits"
	// installationName is what a database and those restored from it have in common, alone.
	installationName = "installation"
	// replicaVerifiedName is when a restore of the replica was last found to be sound.
	replicaVerifiedName = "replica_verified_at"
	// keyKeptName is when somebody last said that the master key is kept elsewhere.
	keyKeptName = "master_key_kept_at"
)

// countOtherCommit counts a transaction of a command that runs beside a server. The server
// is told of others' commits by SQLite, but not whose they are: the process that replicates
// the file commits something with each checkpoint, and that changes nothing that is cached.
func countOtherCommit(wx *sqlite.Wx) error {
	return wx.Run(`
		INSERT INTO meta (name, value) VALUES (?, CAST(1 AS BLOB))
		ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(CAST(value AS TEXT) AS INTEGER) + 1 AS BLOB)`, otherCommitsName)
}

func otherCommits(rx sqlite.Rx) (n int64, err error) {
	err = rx.Scan([]any{&n}, `SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE name = ?`, otherCommitsName)
	return n, IgnoreNotFound(err)
}

// Installation is what this database and those restored from it are called; "" before its replica.
func (rx *Rx) Installation() (string, error) {
	id, err := value[string](rx, `SELECT CAST(value AS TEXT) FROM meta WHERE name = ?`, installationName)
	return id, IgnoreNotFound(err)
}

// NameInstallation gives the database a name if it has none, and returns it.
func (tx *Tx) NameInstallation() (string, error) {
	id, err := tx.Installation()
	if err != nil || id != "" {
		return id, err
	}

	random := make([]byte, 8)
	rand.Read(random)
	id = hex.EncodeToString(random)
	_, err = tx.Exec(`INSERT INTO meta (name, value) VALUES (?, CAST(? AS BLOB))`, installationName, id)
	return id, err
}

// ReplicaVerifiedAt is when a restore of the replica was last found to be sound, 0 for never.
func (rx *Rx) ReplicaVerifiedAt() (Time, error) { return metaNumber[Time](rx, replicaVerifiedName) }

// SetReplicaVerified records that a restore of the replica is sound.
func (tx *Tx) SetReplicaVerified() error { return tx.setMetaNumber(replicaVerifiedName, int64(tx.Now)) }

// KeyKeptAt is when somebody last said that the master key is kept elsewhere, 0 for never.
func (rx *Rx) KeyKeptAt() (Time, error) { return metaNumber[Time](rx, keyKeptName) }

// SetKeyKept records that the master key is kept elsewhere.
func (tx *Tx) SetKeyKept() error { return tx.setMetaNumber(keyKeptName, int64(tx.Now)) }
