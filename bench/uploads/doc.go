// Package uploads is the scenario of a workshop during which people hand files in. Phases
// with and without uploads alternate in one run, so that both meet the same server and
// machine in the same minutes. It reports the chat latency of each, the server's memory
// over the time, and how long uploads take.
//
// The uploads are planned like everything else, and their latency counts from the planned
// time. They go to a codelab of their own on the same server. There are enough attendees to
// stay within the server's limit for each. Each attendee deletes a file before the next, so
// a run needs little disk space.
package uploads
