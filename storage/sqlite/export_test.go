package sqlite

import "fmt"

// What the tests of package sqlite_test need and nobody else may have.

// IDSource makes ids from a clock that had been ahead by so many milliseconds.
func IDSource(aheadMS uint64) func() string {
	s := newIDSource()
	s.next()
	s.lastMS += aheadMS
	return s.next
}

// SpendMillisecond leaves the id source without room in its millisecond.
func SpendMillisecond(spend func(next func() string)) error {
	s := newIDSource()
	s.entropy.Reader = full{}
	s.lastMS = 1 << 47 // far ahead, so that the clock does not move it
	spend(s.next)
	if s.lastMS == 1<<47 {
		return fmt.Errorf("the millisecond was not used up")
	}
	return nil
}

// full yields the greatest start there is, and steps that overflow it.
type full struct{}

func (full) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	if len(p) == 4 {
		p[3] = 0x7f
	}
	return len(p), nil
}

// Unpack takes a packed row apart.
func Unpack(text string, dest ...any) error { return new(unpacker).unpack(text, dest) }

// Queues is how many organizations are remembered.
func (f *FairSemaphore) Queues() int { return len(f.queues) }
