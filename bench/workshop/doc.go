// Package workshop is the scenario of a live workshop. Some thousand attendees register and
// connect at once. Then they walk through the steps, chat, ask for help and comment on the
// text, while facilitators answer. Some stop reading. On request the server is killed and
// started again meanwhile. At the end everything that was acknowledged is looked for.
//
// # Ownership
//
// [Run] is a list of phases on the caller's goroutine. The crowd, which is all state of the people,
// belongs to the goroutine of the socket loop; a phase accesses it with Loop.Do, and directly after
// the loop has ended. REST calls run on their own goroutines and pass their answers back to the
// loop.
//
// # What is expected of the codelab
//
// Nobody else uses it during the run. Foreign chat would count as events whose origin is
// unknown, which is harmless. But foreign comments and help requests would be taken for
// duplicates.
package workshop
