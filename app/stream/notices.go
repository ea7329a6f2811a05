package stream

import (
	"io"
	"time"
)

// Notices are what a stream sends beside events, in the words of its Format. Their source
// collects them, keeps together what can be sent together, and calls Notify. They are not
// numbered: who was away has missed them.
type Notices interface {
	// AppendOpening appends what comes before all else.
	AppendOpening(b []byte) []byte
	// AppendNew appends what has come together since it was last called, if anything.
	AppendNew(b []byte) []byte
	// AppendEnding appends why the stream has to end.
	AppendEnding(b []byte) []byte
}

// noNotices are those of a stream that has none.
type noNotices struct{}

func (noNotices) AppendOpening(b []byte) []byte { return b }
func (noNotices) AppendNew(b []byte) []byte     { return b }
func (noNotices) AppendEnding(b []byte) []byte  { return b }

// Notify says that there are new notices. It never waits.
func (s *Stream) Notify() {
	select {
	case s.news <- struct{}{}:
	default: // it knows already
	}
}

// writeEnding says to a client why its stream ends. One that does not take it will find out when
// it comes back.
func (s *Stream) writeEnding(w io.Writer) {
	_ = s.connection.SetWriteDeadline(time.Now().Add(lastWrite))
	if _, err := w.Write(s.Notices.AppendEnding(nil)); err == nil {
		_ = s.connection.Flush()
	}
}

// AppendNotice appends a notice in the form of server-sent events. The data is one line.
func AppendNotice(b []byte, name string, data []byte) []byte {
	b = append(append(b, "event: "...), name...)
	return append(append(append(b, "\ndata: "...), data...), "\n\n"...)
}
