// Package uploads is the scenario of a workshop during which people hand files
// in: phases with and without uploads alternate in one run, so that both meet
// the same server, machine and moment. It tells the chat latency of each, the
// server's memory over the time, and how long uploads take.
//
// The uploads are planned like everything else, and their latency counts from
// the planned time. They go to a codelab of their own on the same server, from
// as many attendees as the server's limit for each asks for; each attendee
// deletes a file before the next, so a run needs little room.
package uploads
