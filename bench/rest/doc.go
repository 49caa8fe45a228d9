// Package rest is the scenario of the REST API. Many persistent connections read a codelab and its
// lists, and write data that is stored before the response.
//
// Readers and writers have separate connections and run concurrently. There are three modes. All
// connections of a side together make a fixed number of requests, as in the rows of a comparison.
// The requests follow a planned rate for a time. Or they run unthrottled for a time. Acknowledged
// chat messages are verified afterwards.
//
// [Floor] repeats one request to any server. A minimal server that sends the same bytes shows how
// much overhead remains.
package rest
