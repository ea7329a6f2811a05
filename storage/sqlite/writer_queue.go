package sqlite

import (
	"fmt"
	"time"
)

const (
	// QueueSize bounds the writes that wait for the writer; past it callers wait.
	QueueSize = 1024
	// queueWait is how long a caller waits for a place in a full queue.
	queueWait = time.Second
)

func (wr *writer) enqueue(w *write) error {
	wr.closing.RLock()
	defer wr.closing.RUnlock()
	if wr.closed {
		return errClosed
	}

	select {
	case wr.queue <- w:
		return nil
	default:
	}

	full := time.NewTimer(queueWait)
	defer full.Stop()
	select {
	case wr.queue <- w:
		return nil
	case <-full.C:
		return fmt.Errorf("%w: the write queue is full", ErrUnavailable)
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// gather adds the writes that wait already. For more it waits only while all are patient.
func (wr *writer) gather(batch []*write) []*write {
	urgent := !batch[0].patient
	for len(batch) < maxBatch {
		var w *write // nil if none comes, or the queue is closed
		select {
		case w = <-wr.queue:
		default:
			if !urgent {
				w = wr.hold(batch[0])
			}
		}
		if w == nil {
			return batch
		}

		urgent = urgent || !w.patient
		batch = append(batch, w)
	}
	return batch
}

// hold waits for a write as long as the first of a batch is patient; nil if none came.
func (wr *writer) hold(first *write) *write {
	left := wr.db.patience - time.Since(first.queued)
	if left <= 0 {
		return nil
	}

	wr.held.Reset(left)
	select {
	case w := <-wr.queue:
		return w
	case <-wr.held.C:
		return nil
	}
}
