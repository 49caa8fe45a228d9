// Package rest is the scenario of the REST interface: many kept-alive connections read a
// codelab and its lists, and write data that is stored before the answer.
//
// Readers and writers have connections of their own and run concurrently. They have three modes.
// Each connection can make a number of requests, one after another, as the rows of [Matrix] do.
// They can follow a planned rate for a time, or run unthrottled. Acknowledged writes are verified
// afterwards.
//
// [Floor] repeats one request to any server. A bare server that sends the same bytes shows the
// remaining overhead.
package rest
