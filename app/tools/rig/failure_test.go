package rig

import (
	"errors"
	"testing"

	"github.com/matryer/is"
)

func TestAnErrorEndsWhatGoesOnAndIsCaught(t *testing.T) {
	is := is.New(t)
	broken, undone := errors.New("broken"), 0
	err := Catch(func() {
		defer OnFailure(func() { undone++ })
		is.Equal(Must(1, nil), 1)
		Within("the second step", func() { Must(2, broken) })
		t.Error("it went on")
	})
	is.True(errors.Is(err, broken))
	is.Equal(err.Error(), "the second step: broken")
	is.NoErr(Catch(func() {
		defer OnFailure(func() { undone++ })
		Within("the first step", func() { Check(nil) })
	}))
	is.Equal(undone, 1)

	// A fault of the program itself is none of a trial.
	defer func() { is.True(recover() != nil) }()
	_ = Catch(func() { _ = []int(nil)[len(err.Error())] })
	t.Error("it was taken for an error")
}
