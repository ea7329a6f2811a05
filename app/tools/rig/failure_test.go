package rig

import (
	"errors"
	"testing"

	"github.com/matryer/is"
)

func TestAnErrorEndsWhatGoesOnAndIsCaught(t *testing.T) {
	is := is.New(t)
	broken := errors.New("broken")
	err := Catch(func() {
		is.Equal(Must(1, nil), 1)
		Within("the second step", func() { Must(2, broken) })
		t.Error("it went on")
	})
	is.True(errors.Is(err, broken))
	is.Equal(err.Error(), "the second step: broken")
	is.NoErr(Catch(func() { Within("the first step", func() { Require(true, "broken") }) }))
	is.Equal(Catch(func() { Require(false, "%d is %w", 1, broken) }).Error(), "1 is broken")

	// A fault of the program itself is none of a trial.
	defer func() { is.True(recover() != nil) }()
	_ = Catch(func() { _ = []int(nil)[len(err.Error())] })
	t.Error("it was taken for an error")
}

func TestWhatIsLeftIsCleanedOnceAndTheLastFirst(t *testing.T) {
	is := is.New(t)
	var done []int
	for i := range 3 {
		Cleanup(func() { done = append(done, i) })
	}
	Clean()
	Clean()
	is.Equal(done, []int{2, 1, 0})
}
