// Package workshop is the scenario of a live workshop. Some thousand attendees register and
// connect at once. Then they walk through the steps, chat, ask for help and comment on the
// text, while facilitators answer. Some stop reading. On request the server is killed and
// started again meanwhile. At the end everything that was acknowledged is looked for.
//
// # Ownership
//
// [Run] is a list of phases on the caller's goroutine. The crowd, which is
// everything about the people, belongs to the goroutine of the socket loop; a
// phase reaches it with Loop.Do, and directly once the loop has ended. REST
// calls run on goroutines of their own and bring their answers back to the
// loop.
//
// # What is expected of the codelab
//
// Nobody else uses it during the run. Foreign chat would count as events whose origin is
// unknown, which is harmless. But foreign comments and help requests would be taken for
// duplicates.
package workshop
