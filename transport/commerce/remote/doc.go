// Package remote gets documents from servers nobody vouches for: over https
// only, without following redirects, within a size and a time, and never from
// an address inside our own network. Addresses are checked when the connection
// is made, on what the name has resolved to then, so that a name cannot point
// elsewhere between a check and the use. Webhooks leave by the same door (NewHTTP).
package remote
