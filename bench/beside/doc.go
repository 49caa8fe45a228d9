// Package beside contains the scenarios that measure a workshop with and without an additional
// load. One run has periods with and without that load, so that the server and the machine are the
// same for both. The report compares the chat latency and the server's memory of the two kinds of
// periods.
//
// In [Uploads], attendees of a separate codelab submit files. In [Clones], hundreds of people clone
// the code of the steps at the same moment, from one address, again and again. This happens when a
// facilitator says "take the start of step 4". In [Polls], attendees of the workshop vote.
//
// The load is planned like everything else, and its latency counts from the planned time.
package beside
