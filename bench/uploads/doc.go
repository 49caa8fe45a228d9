// Package uploads is the scenario of a workshop in which people submit files. Phases with and
// without uploads alternate in one run, so that both meet the same server and machine in the same
// minutes. The package reports the chat latency of each kind of phase, the server's memory over
// time, and the latency of uploads.
//
// The uploads are planned like everything else, and their latency counts from the planned time.
// They go to a separate codelab on the same server. There are enough attendees to stay within the
// server's limit per attendee. Each attendee deletes a file before uploading the next one, so that
// a run needs little disk space.
package uploads
