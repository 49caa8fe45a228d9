// Package beside is the scenarios of a workshop with another load beside it. In one run there are
// times with that load and times without it, so that both meet the same server and machine in the
// same minutes. The report compares the chat latency and the server's memory of the two.
//
// In [Uploads], attendees of a separate codelab submit files. In [Clones], hundreds fetch the code
// of the steps at the same moment, from one address, again and again. This happens when a
// facilitator says "take the start of step 4". In [Polls], attendees of the workshop vote.
//
// The load is planned like everything else, and its latency counts from the planned time.
package beside
