// Package clones is the scenario of a workshop in which hundreds fetch the code of the
// steps at the same moment, from one address, again and again. This happens when a
// facilitator says "take the start of step 4". It measures the chat latency with and
// without clones, and how long a clone takes.
//
// All are attendees of the running workshop. Before each round a file of the code changes,
// so that no earlier pack can be reused. A clone does the same as git: it reads the
// references and requests all of them, reads the pack to its end, and verifies its hash.
package clones
