// Package rest is the scenario of the REST API. Many persistent connections read a codelab and its
// lists, and write data that is stored before the response.
//
// Readers and writers have separate connections and run concurrently. There are three modes. Each
// connection can make a number of requests, one after another, as in the rows of a comparison. The
// requests can follow a planned rate for a time. Or they can run unthrottled. Acknowledged writes
// are verified afterwards.
//
// [Floor] repeats one request to any server. A minimal server that sends the same bytes shows how
// much overhead remains.
package rest
