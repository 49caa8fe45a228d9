// Package workshop is the scenario of a live workshop. Up to some thousand attendees register and
// connect at the same time. Then they walk through the steps, chat, ask for help and comment on the
// text, while facilitators respond. Some attendees stop reading. On request, faults are injected
// during the run, for example a kill and restart of the server. At the end the package verifies
// that everything acknowledged still exists.
//
// # Ownership
//
// [Config.Run] is a list of phases on the caller's goroutine. The goroutine of the socket loop owns
// the crowd, which contains all state of the people. A phase accesses the crowd with Loop.Do, and
// directly after the loop has ended. REST calls run on their own goroutines and pass their
// responses back to the loop.
//
// # What is expected of the codelab
//
// Nobody else must use it during the run. Chat of other people would count as events of unknown
// origin, which is harmless. But their comments and help requests would be taken for duplicates.
package workshop
