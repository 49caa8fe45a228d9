// Package remote fetches documents from untrusted servers: over https only, without following
// redirects, with limits on size and time, and never from an address inside our own network. The
// address is checked when the connection is made, after the name has been resolved, so a name
// cannot resolve to another address between check and use. Webhooks are sent through the same
// client (NewHTTP).
package remote
