package sqlite

import "fmt"

// What the tests of package sqlite_test need and no other code may use.

// IDSource makes ids from a clock that had been ahead by so many milliseconds.
func IDSource(aheadMS int64) func() string {
	o := newOrder()
	o.startAfter(Now() + Time(aheadMS))
	return func() string { return o.next(Now()) }
}

// OrderAfter gives the times of an order that goes on after one.
func OrderAfter(t Time) func(clock Time) Time {
	o := newOrder()
	o.startAfter(t)
	return o.now
}

// SpendMillisecond leaves the id source without room in its millisecond.
func SpendMillisecond(spend func(next func() string)) error {
	const far = 1 << 47 // ahead, so that the clock does not move it
	o := newOrder()
	o.entropy.Reader = full{}
	o.startAfter(far - 1)
	spend(func() string { return o.next(Now()) })
	if o.last == far {
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
