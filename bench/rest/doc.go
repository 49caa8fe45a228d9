// Package rest is the scenario of the REST interface: many connections that are
// kept alive read a codelab and its lists, and write what is stored before it is
// answered.
//
// Readers and writers have connections of their own and go on side by side. They
// either carry out so many requests, each connection one after the other, as the
// rows of [Matrix] do; or so many a second for a time, planned beforehand; or as
// many as go. What was acknowledged is looked for afterwards.
//
// [Floor] sends one request again and again to any server: a bare one that sends
// the same bytes says how much is left to win.
package rest
