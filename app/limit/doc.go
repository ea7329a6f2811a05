// Package limit bounds what strangers and neighbours can hold of a server, so that no one
// crowds out others.
//
// A caller that holds something is a Holder: the known by organization and person, strangers by
// network and address. Two primitives count what holders have, in a ledger that knows the
// sum of each group and of each member of a group:
//
//   - A Semaphore is for work that can wait: hashing a password, reading a large body. What
//     does not fit waits, for at most the semaphore's patience. The groups that wait are
//     served round robin, the known and the strangers alternately. The one that is next
//     stays next until there is room, so that small ones do not starve a large one; a group
//     that has used up its share is passed over, and holds up itself alone.
//   - An EvictingSet is for things open at once: connections, requests, half-sent bodies,
//     streams. A newcomer that does not fit ends something else: of the largest group the largest
//     member, and of that what has been there longest. A newcomer of a small holder is never
//     refused for the sake of a large one. Strangers never end anything of the known, and the
//     known leave a reserve in which a newcomer can show who it is (see Identify).
//
// A semaphore ends things too, if it has a grace: what has been held for that long by the
// largest group gives way to a smaller one that has waited as long.
//
// Ending is asynchronous. The end that a holder passed is called once, without a lock, from
// the goroutine that needs the room, also while the holder releases: it must not
// block and must bear that. In a set the room is free at once, in a semaphore when the
// holder releases it. A holder that must no longer be ended calls Keep.
//
// Beside them, for how often something may happen: Buckets are token buckets by key, a
// Quota counts within a minute, a Daily within any 24 hours, a Once knows what has happened, and
// a Throttle makes those wait who fail again and again. All forget keys rather than grow, and everything at a restart.
//
// Each Semaphore and EvictingSet has one mutex, which guards its ledger and queues. It is
// never held while something else is called or waited for.
package limit
