package rig

import (
	"fmt"
	"os"
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

// OnFailure is deferred, and undoes what was begun if that fails.
func OnFailure(undo func()) {
	if fault := recover(); fault != nil {
		undo()
		panic(fault)
	}
}

// Main runs a program. It also plays roles in processes of its own, in which it starts itself with
// the name of one as the first argument: the program's, and those of this package.
func Main(program string, roles map[string]func(args []string), run func()) {
	if len(os.Args) > 1 {
		for _, known := range []map[string]func([]string){{"receive": receive, "storage": serveStorage}, roles} {
			if role, ok := known[os.Args[1]]; ok {
				run = func() { role(os.Args[2:]) }
			}
		}
	}

	if err := Catch(run); err != nil {
		fmt.Fprintln(os.Stderr, program+":", err)
		os.Exit(1)
	}
}
