package replica

// KillChild kills the child, as a lack of memory does, and returns when it has ended.
func (r *Replica) KillChild() {
	r.mu.Lock()
	p := r.process
	r.mu.Unlock()
	p.kill()
	<-p.ended
}

// Follows reports whether a child has the log.
func (r *Replica) Follows() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Follows
}
