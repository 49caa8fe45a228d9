// Package rest is the scenario of the REST API. Many persistent connections read a codelab and its
// lists, and write data that is stored before the response.
//
// Readers and writers have separate connections and run concurrently. Each of the two groups has
// one of three kinds of load:
//
//   - a fixed number of requests for all its connections together, as with --row
//   - a planned rate of requests for the duration of the run
//   - unthrottled requests for the duration of the run
//
// Acknowledged chat messages are verified afterwards.
//
// [Floor] repeats one request to any server. The difference between Atelier and a minimal server
// that sends the same bytes is Atelier's overhead.
package rest
