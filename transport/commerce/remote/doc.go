// Package remote fetches documents from untrusted servers: over https only, without following
// redirects, with limits on size and time, and never from an address inside our own network. The
// address is checked when the connection is made, after the name has been resolved, so a name
// cannot resolve to another address between check and use.
//
// Webhooks are sent through the client that NewHTTP returns. It checks addresses in the same way,
// but also permits http, and our own network if the operator does.
package remote
