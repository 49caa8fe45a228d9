// Package clones is the scenario of a workshop in which hundreds fetch the code of the
// steps at the same moment, from one address, again and again: as when a facilitator says
// "take the start of step 4". It tells the chat latency while they do and while nobody
// does, and how long a clone takes.
//
// All are attendees of the workshop that goes on. Before each time a file of the code
// changes, so that no pack was made before. A clone is what git makes of it: the
// references are read, all of them are wanted, and the pack is read to its end and its
// hash is compared.
package clones
