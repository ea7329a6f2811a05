package replica

import "time"

// The server and its child talk in lines of JSON. The first line to the child is its task,
// each other one is a signal; the child answers with reports.

// task says what a child has to do.
type task struct {
	Settings
	Generation string `json:"generation"`
	// VerifyKey is the master key, if the replica is to be verified instead of followed.
	VerifyKey []byte `json:"verify_key,omitempty"`
}

// The signals of the server.
const (
	signalGo         = `"go"`         // the writer waits: make the checkpoint
	signalCheckpoint = `"checkpoint"` // ask for a turn soon
	signalStop       = `"stop"`       // send the rest and exit
)

// report is a line of the child.
type report struct {
	Want bool `json:"want,omitempty"` // asks for a turn
	Done bool `json:"done,omitempty"` // the turn is over

	Follows    bool          `json:"follows,omitempty"`  // it has the log, and nobody else may empty it
	Backlog    int64         `json:"backlog,omitempty"`  // bytes that wait to be sent
	InSync     bool          `json:"in_sync,omitempty"`  // nothing waits
	Behind     time.Duration `json:"behind,omitempty"`   // all that was committed so long ago is sent; 0 if that is not known
	UploadedAt time.Time     `json:"upload_at,omitzero"` // when something was last sent
	Error      string        `json:"error,omitempty"`    // why the last try failed

	Verified *Verified `json:"verified,omitempty"`
}
