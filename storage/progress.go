package storage

import "encoding/hex"

const (
	// commitName is the row of meta that counts on while a server serves: see Progress.
	commitName = "commit"
	// putBackName is the row of meta that says when an older file was last found to be put back.
	putBackName = "put_back_at"
)

// Progress is how far a database has come. A server keeps it beside the database in a file
// of its own, so that it notices at its start when an older database was put in the place
// of the one that it served: that would give out numbers again that clients have seen with
// other events, and send again what was sent.
//
// SQLite has no number that each commit moves and that stays in the file: data_version is a
// connection's own, and in a database with a log the change counter of the header does
// not move. The numbers of events and jobs do not move when a job ends or a label is renamed.
// So there is a number of ours. To count at every commit would cost each of them a page: a
// server counts once a second, if anything was committed since (see DB.Changes), and then
// writes the file. The database is always the first of the two: whenever the process is
// killed, the file's content was committed before.
type Progress struct {
	Epoch  string `json:"epoch"`
	Event  int64  `json:"event"`  // the highest number that was given out, even if that event is gone
	Commit int64  `json:"commit"` // 0: no server has counted
}

// Progress reads how far the database has come.
func (rx *Rx) Progress() (p Progress, err error) {
	epoch, err := rx.Epoch()
	if err != nil {
		return p, err
	}

	p.Epoch = hex.EncodeToString(epoch[:])
	p.Event, err = value[int64](rx, `SELECT seq FROM sqlite_sequence WHERE name = 'events'`)
	if IgnoreNotFound(err) != nil {
		return p, err
	}
	p.Commit, err = metaNumber[int64](rx, commitName)
	return p, err
}

// CountCommit counts on, and returns how far the database has come with it.
func (tx *Tx) CountCommit() (p Progress, err error) {
	if p, err = tx.Progress(); err != nil {
		return p, err
	}
	p.Commit++
	return p, tx.setMetaNumber(commitName, p.Commit)
}

// PutBackAt is when it was last noticed that the file had been put back, 0 for never.
func (rx *Rx) PutBackAt() (Time, error) { return metaNumber[Time](rx, putBackName) }

// Differs says in words how a database that has come so far is not the one that was served
// last, of which kept says how far that had come; "" if it may be. kept is nil if there is
// no record: then it is another one if a server has counted in it, in another directory.
func (p Progress) Differs(kept *Progress) string {
	switch {
	case kept == nil && p.Commit > 0:
		return "nothing tells that it was last served here"
	case kept == nil:
		return ""
	case p.Epoch != kept.Epoch:
		return "it is not the one last used here"
	case p.Event < kept.Event || p.Commit < kept.Commit:
		return "it is older than the one last used here"
	}
	return ""
}
