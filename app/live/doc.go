// Package live notifies open consoles of changes, as they happen.
//
// A console has one stream (package stream) of its organization's events, and beside them
// notices, which are made here and live in memory alone:
//
//   - ready, first of all: who is connected, and to which version of the server.
//   - changed: something of a kind was changed, and where that is known which. It carries
//     no data: the console reads again what it shows.
//   - presence: who has a conversation on screen, or writes in it.
//   - ended, last of all: why the stream ends.
//
// They come about like this:
//
//	writer ── Hints ──► Hub.Run ── by organization and role ──► viewer ──► Stream
//	POST presence ────► Hub.Look ── by organization ───────────► viewer ──► Stream
//
// While no console is open, nothing is collected. What a commit changed is sent at once,
// and what follows within hintInterval is sent together, or within longer while very much
// changes in the organization (pace). The viewers of an organization share what they are sent
// (batch), and its text. A viewer keeps what it has not sent yet: that, or if more came
// meanwhile the ids of each kind, up to a number above which they are just many; and the
// names of the conversations whose people have changed, of whom it then says how they are
// by now. So a slow reader costs no more than a quick one, and catches up as soon.
//
// A console with an open conversation says so every few seconds, and is forgotten lookLife after
// the last time. There are at most maxTabs of a person and maxLooks of an organization.
//
// Hub.mu guards all of it.
package live
