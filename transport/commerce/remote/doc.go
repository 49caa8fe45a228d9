// Package remote gets documents from untrusted servers: over https only, without following
// redirects, within a size and a time, and never from an address inside our own network. The
// address is checked when the connection is made, after the name has been resolved, so a name
// cannot resolve to another address between the check and the use. Webhooks are sent through the
// same client (NewHTTP).
package remote
