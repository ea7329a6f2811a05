package callback

import (
	"testing"

	"confab/storage/storagetest"
)

// A status of a message that we sent and a text of somebody known are among the busiest
// transactions.
func TestCallbacksKeepToTheirBudget(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.sent")
	l.report(ourNumber, status("wamid.sent", "sent", "")) // rows read once are in memory after this
	l.hear(hello("wamid.1", "hi"))
	l.hear(hello("wamid.2", "hi"))

	done := storagetest.Statements(t, l.server.DB, l.dir, func() { l.report(ourNumber, status("wamid.sent", "delivered", "")) })
	l.is.Equal(done, [][]string{{"SELECT messages", "UPDATE messages 3", "INSERT events 5", "INSERT message_hours 2"}})

	done = storagetest.Statements(t, l.server.DB, l.dir, func() { l.report(ourNumber, status("wamid.sent", "read", marketing)) })
	l.is.Equal(done, [][]string{{"SELECT messages", "UPDATE messages 3", "INSERT events 5", "INSERT message_hours 2", "INSERT message_costs 1"}})

	done = storagetest.Statements(t, l.server.DB, l.dir, func() { l.hear(hello("wamid.3", "hi")) })
	l.is.Equal(done, [][]string{{"INSERT messages 10", "UPDATE conversations 8", "INSERT events 5", "INSERT message_hours 2"}})
}
