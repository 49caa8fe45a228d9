// Package rest is the scenario of the REST interface: many connections that are
// kept alive read a codelab and its lists, and write what is stored before it is
// answered.
//
// Readers and writers have connections of their own and go on side by side. They
// either carry out a number of requests, each connection one after the other, as the
// rows of [Matrix] do; or a rate for a time, planned beforehand; or go unthrottled.
// Acknowledged writes are looked for afterwards.
//
// [Floor] sends one request again and again to any server: a bare one that sends
// the same bytes says how much is left to win.
package rest
