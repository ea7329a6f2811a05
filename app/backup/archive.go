// Package backup writes everything of a data directory into one archive, and makes a data
// directory out of such an archive.
//
// An archive is a tar file: confab.db, master.key unless it was left out, media/xx/HASH for each
// media file, and last the manifest. An archive without a manifest was cut short. Every part can be
// verified: the manifest has the hash of the database, and the name of a media file is its hash.
// Media in object storage is not in an archive: the manifest says where it is.
package backup

import "confab/storage"

// The names in an archive.
const (
	archiveFormat   = 1
	archiveDatabase = "confab.db"
	archiveKey      = storage.MasterKeyFile
	archiveMedia    = storage.MediaDir + "/"
	archiveManifest = "manifest.json"

	// maxSmallEntry limits the key and the manifest. It leaves room because a
	// manifest lists every media file that is missing or damaged.
	maxSmallEntry = 64 << 20
)

// Manifest describes the content of a backup.
type Manifest struct {
	Object        string       `json:"object"`
	Format        int          `json:"format"`
	CreatedAt     storage.Time `json:"created_at"` // everything acknowledged before this is in it
	Version       string       `json:"version"`    // of the confab that made it
	SchemaVersion int          `json:"schema_version"`
	Messages      int64        `json:"messages"`
	Queued        int64        `json:"queued"` // messages that were still to be sent
	Database      File         `json:"database"`
	Media         Media        `json:"media"`
	Key           bool         `json:"key"` // master.key is in it
}

// File is the size and hash that a file of the archive must have.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Media sums up the files of media.
type Media struct {
	Files   int64    `json:"files"`
	Size    int64    `json:"size"`
	Missing []string `json:"missing,omitempty"` // named by the database, but not on disk
	Damaged []string `json:"damaged,omitempty"` // on disk, but their hash is not their name

	Store  string `json:"store,omitempty"`  // URL of the object storage that has those that are not in the archive
	Stored int64  `json:"stored,omitempty"` // how many those are
}

// mediaEntry is the name of a media file in an archive.
func mediaEntry(sum string) string { return archiveMedia + sum[:2] + "/" + sum }
