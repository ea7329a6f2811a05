package rig

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// A measurement or a trial is over at its first error, as a test is, wherever that happens. So its
// functions do not hand errors up: Check and Must panic with them, and Catch, with which a run and
// each of its goroutines begins, makes an error of that again. What is deferred is done meanwhile.

// failure is an error that nobody between Check and Catch looks at.
type failure struct{ error }

// Check ends what goes on, up to Catch, if there is an error.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Require ends what goes on unless a condition holds.
func Require(holds bool, otherwise string, args ...any) {
	if !holds {
		Check(fmt.Errorf(otherwise, args...))
	}
}

// Must returns a value that came without an error.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// Catch does something, and returns the error that has ended it.
func Catch(do func()) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case failure:
			err = fault.error
		default:
			panic(fault)
		}
	}()

	do()
	return nil
}

// Within does something whose errors say where they happened.
func Within(where string, do func()) {
	if err := Catch(do); err != nil {
		Check(fmt.Errorf("%s: %w", where, err))
	}
}

// cleanups end and remove what a run, or a part of it, has left behind.
var cleanups struct {
	sync.Mutex
	all []func()
}

// Cleanup registers what Clean does, as that of a test does at its end.
func Cleanup(do func()) {
	cleanups.Lock()
	defer cleanups.Unlock()
	cleanups.all = append(cleanups.all, do)
}

// Clean does what was registered since it was called last, the last first.
func Clean() {
	cleanups.Lock()
	defer cleanups.Unlock()
	for _, do := range slices.Backward(cleanups.all) {
		do()
	}
	cleanups.all = nil
}

// Main runs a program, and cleans up at its end or when it is interrupted. It also plays roles in
// processes of its own, in which it starts itself with the name of one as the first argument.
func Main(program string, roles map[string]func(args []string), run func()) {
	roles["count"], roles["storage"] = count, serveStorage
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		run = func() { roles[os.Args[1]](os.Args[2:]) }
	}

	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		Clean()
		os.Exit(1)
	}()

	err := Catch(run)
	Clean()
	if err != nil {
		fmt.Fprintln(os.Stderr, program+":", err)
		os.Exit(1)
	}
}
