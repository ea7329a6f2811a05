package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage/storagetest"
)

// Accepting a message to somebody known is the busiest transaction of all.
func TestAcceptingAMessageKeepsToItsBudget(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	const text = `{"messaging_product":"chat","to":"+15551234567","type":"text","text":{"body":"hi"}}`
	is.Equal(f.call("POST", messages, text).status, 200) // who is made known by this
	is.Equal(f.call("POST", messages, text).status, 200)

	done := storagetest.Statements(t, f.db, f.dir, func() { is.Equal(f.call("POST", messages, text).status, 200) })
	done = slices.DeleteFunc(done, func(statements []string) bool { // the API log is written at any time
		return !slices.ContainsFunc(statements, func(s string) bool { return strings.HasPrefix(s, "INSERT messages") })
	})
	is.Equal(done, [][]string{{
		"UPDATE conversations 8", // two of them hold those that wait or sleep
		"INSERT messages 10",     // of these trees most hold few of the messages, and not this one
		"INSERT jobs 6",          // four of them hold few jobs, and not this one
		"INSERT usage 1",
	}})
}
