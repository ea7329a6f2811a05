package replica

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// restartPause is how long to wait before a child that died is started again, and the
	// longest wait if that goes on.
	restartPause    = 200 * time.Millisecond
	maxRestartPause = 5 * time.Second
	// soundTime is how long a child runs that is sound.
	soundTime = time.Minute
	// maxLine bounds a line of a child.
	maxLine = 1 << 20
)

// process is a running child.
type process struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	writing   sync.Mutex    // of signals
	done      chan struct{} // its turn is over
	ended     chan struct{} // closed when it has ended
	lettingGo atomic.Bool
}

// start starts a child with a task; each gets its reports.
func (r *Replica) start(t task, each func(*process, report)) (p *process, err error) {
	cmd, err := r.Command()
	if err != nil {
		return nil, err
	}
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	cmd.Stderr = logWriter{r.Log}
	if err := cmp.Or(inErr, outErr); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}

	p = &process{cmd: cmd, in: in, done: make(chan struct{}, 1), ended: make(chan struct{})}
	err = json.NewEncoder(in).Encode(t)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			var one report
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				each(p, one)
			}
		}
		if err := cmd.Wait(); err != nil {
			r.Log.Debug("the replica's process ended", "error", err)
		}
	}()
	if err != nil {
		p.kill()
		<-p.ended
	}
	return p, err
}

// signal sends a signal. A child that has ended is noticed elsewhere.
func (p *process) signal(what string) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = io.WriteString(p.in, what+"\n")
}

// kill ends the child at once.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// logWriter logs what a child writes to its standard error.
type logWriter struct{ *slog.Logger }

// Write implements io.Writer. A child writes whole lines.
func (w logWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w.Warn("replica", "process", strings.TrimSuffix(line, "\n"))
	}
	return len(text), nil
}

// supervise starts a child again and again, until the server stops.
func (r *Replica) supervise() {
	defer close(r.ended)
	select {
	case <-r.settled:
	case <-r.stopping:
		return
	}

	for pause := restartPause; !r.isStopping(); pause = min(2*pause, maxRestartPause) {
		began := time.Now()
		lettingGo, err := r.runChild()
		if r.isStopping() {
			return
		}
		if err != nil {
			r.Log.Warn("the replica's process cannot be started", "error", err)
		}

		if lettingGo {
			r.waitForStorage()
		} else if err == nil {
			r.Log.Warn("the replica's process ended and is started again")
		}
		if time.Since(began) > soundTime {
			pause = restartPause
		}
		select {
		case <-r.stopping:
		case <-time.After(pause):
		}
	}
}

// isStopping reports whether no child must be started any more.
func (r *Replica) isStopping() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return r.generation() == "" // superseded
	}
}

// generation is the one of this server; "" if there is none any more.
func (r *Replica) generation() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.local.Name
}

// runChild runs a child until it ends, and reports whether it was let go.
func (r *Replica) runChild() (lettingGo bool, err error) {
	generation := r.generation()
	if generation == "" {
		return false, nil // superseded just now
	}
	p, err := r.start(task{Settings: r.Settings, Generation: generation}, r.take)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	r.process = p
	r.mu.Unlock()
	if r.isStopping() { // before it was there to be told
		p.signal(signalStop)
		time.AfterFunc(stopPatience, p.kill)
	}

	<-p.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process, r.downSince = nil, time.Now()
	r.last.Follows, r.last.InSync = false, false
	if p.lettingGo.Load() {
		r.last.Backlog = 0
		return true, os.RemoveAll(r.file(waitingDir))
	}
	return false, nil
}

// waitForStorage waits until the storage answers.
func (r *Replica) waitForStorage() {
	for !r.isStopping() {
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		_, _, err := readCurrent(ctx, r.store)
		cancel()
		if err == nil {
			r.Log.Info("the replica's storage answers again: a whole copy is sent")
			return
		}
		select {
		case <-r.stopping:
		case <-time.After(often(lookEvery, r.Interval)):
		}
	}
}

// take takes a report of the child.
func (r *Replica) take(p *process, one report) {
	switch {
	case one.Want:
		go r.turn(p)
		return
	case one.Done:
		notify(p.done)
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if one.Error != "" && one.Error != r.last.Error {
		r.Log.Warn("the replica is not up to date", "error", one.Error)
	}
	if one.UploadedAt.IsZero() { // a new child has sent nothing itself yet
		one.UploadedAt = r.last.UploadedAt
	}
	r.last = one
	if one.Behind > 0 {
		r.cleanAt = time.Now().Add(-one.Behind)
	}
	if one.Follows {
		r.downSince = time.Time{}
	}
	if one.InSync {
		r.changes = r.reported // what is written while a report is on its way may be in the next one only
	}
	r.reported = r.DB.Changes()
}

// turn lets the child make its checkpoint while the writer waits.
func (r *Replica) turn(p *process) {
	select { // the end of an old turn
	case <-p.done:
	default:
	}

	ctx, cancel := context.WithTimeout(context.Background(), turnPatience)
	defer cancel()
	err := r.DB.Turn(ctx, func() bool {
		p.signal(signalGo)
		select {
		case <-p.done:
			return true
		case <-p.ended:
		case <-time.After(turnPatience):
			r.Log.Warn(fmt.Sprintf("the replica's checkpoint took longer than %s", turnPatience))
		}
		return false
	})
	if err != nil { // the database is closed, or nothing can be written
		p.signal(signalGo)
	}
}
