// Package replica keeps a copy of the database elsewhere that follows every change, and
// makes databases out of it. The engine is Litestream's library. It runs in a child process
// of our own binary: when it closes a file in the process of the server, POSIX would drop
// the server's locks on the database.
//
// What is kept, below replica.url:
//
//	current          names the generation in force, its number, and who began it
//	000001-6f1c…/    a generation: what one server sent, from a whole copy on
//
// # Generations
//
// Two servers that send to one path make it unrestorable, so each has a path of its own. The
// object "current" is only ever replaced by one who has read it (a conditional PUT; a file
// under a lock), so that of two who take over at the same time one wins.
//
//	        no current, or this directory was restored, or an older database put back
//	start ───────────────────────────────────────────────► begin: number + 1, new path
//	  │                                                        │
//	  │ current names ours                                     ▼
//	  ├────────────────────────────────────────────────► in force ─┐ looks every 5 s
//	  │                                                        ▲   │
//	  │ current names a later one                              └───┘
//	  ├──────────────────────────► superseded ◄────────────────┘
//	  │                            the child is killed, the server ends with status 1
//	  │ current is another installation's
//	  └──────────────────────────► refused: nothing is sent, the server does not start
//
// A place is known by the generations that its "current" names, and not by how its URL is spelled.
// Under another URL, the server goes on in its generation where that is in force, with a whole
// copy, is superseded where it is an earlier one, and begins one anywhere else.
//
// While the storage does not answer, a server goes on with what it knew. One that was stopped
// for a while (SIGSTOP, a machine that slept) looks before it does anything else: takes a
// request, answers one that was under way, runs a job, hands a message to the provider. See
// Fence.
//
// Only the one in force deletes: generations, as soon as no time within replica.keep and
// replica.snapshot_every needs them, and objects of media.
//
// # Standby
//
//	waiting ──a generation holds something──► copying ──► following ──promote──► catching up
//	   ▲                                         │          │    ▲                    │
//	   ├─ 30 s behind while the storage answers ─┴──────────┤    │ refused: another   │
//	   ├─ another generation holds something ───────────────┘    │ one is in force    │
//	   │                                                         └────────────────────┤
//	   ├─ the copy is not sound, or another was first: ErrChanged ◄── checking ◄──────┘
//	   │                                                                │ epoch, then current
//	   └─ the answer was lost: "current" names this machine, and the    ▼
//	      next promotion goes on from there                           server, in force
//
// A standby is promoted only if the generation in force is the one that it has a copy of, and
// "current" is replaced only as it was read before the copy caught up. So of two that are promoted
// at once one wins, and one that comes later is refused until it has copied what the winner
// sent.
//
// # The child
//
//	down ──start──► copying ──first answer of the storage──► following ──► stopping ──► gone
//	 ▲                 │                                      │    ▲          "stop": sends
//	 └──── dies, or is told to let go ◄──────────────────────┘    │          the rest, 5 s
//	                                                              │
//	following: every interval the log is copied into files beside the database, and these are
//	sent. When the log has 4,000 pages, a checkpoint: "want" ─► the writer stops between two
//	commits ─► "go" ─► checkpoint ─► "done". On the end of the pipe or after 2 s the writer
//	goes on: the turn is fairness only, and SQLite's own locks keep it correct.
//
// While the child follows, the writer makes no checkpoints of its own, which would make the
// next copy a whole one. If the child is down for longer than 10 s, it makes them again.
//
// # Backlog and letting go
//
// While the storage is away, what is to be sent waits in files. Past replica.max_backlog the
// child is killed and the files are deleted: the replica stays as it was, and the log says
// so. When the storage answers again, a child begins with a whole copy.
//
// # Stop
//
// The server stops to write and closes the database; the child, which still has it open, so
// that the log stays, sends the rest for at most 5 s and exits without closing anything. So does
// the child of a server that was killed: no other one can begin before it has ended.
//
// # What may be lost, and what happens twice
//
// Lost with the machine is what the storage had not taken: see Status.Lag. The rest is
// always a prefix of what was committed. A file may be sent twice, after a try whose answer
// was lost: it is the same, and replaces itself.
//
// What was acknowledged and is lost was acknowledged within the lag: a request that was under
// way when a server was stopped gets no answer any more if another has taken over.
//
// A message may be sent twice only if the old server began to send it, and neither that nor
// the provider's callback is in the copy: its call began within the lag. All others that are
// due count as begun in the copy, and wait for their callback first, which now comes to the
// new server. A server that is cut off from the storage cannot know that another took over:
// for as long, all that it does is within its lag.
package replica
