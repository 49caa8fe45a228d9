// Package acceptance tests the whole server through its public interfaces: HTTP, WebSocket, SSE and
// the binary. The tests share a server on a temporary folder or, with TEST_NODES=3, a cluster of
// three nodes. Their clients verify every response and message against the OpenAPI and AsyncAPI
// documents. A test fails if it receives anything undocumented.
//
// A new operation needs a line in the table of badinput_test.go; the invalid bodies are derived
// from its schema. A new format of the data folder needs a fixture: go test -run TestFormatsOpen
// -write-format. To fuzz the interface, use -fuzz FuzzJSONCommands -fuzzminimizetime 5x. The
// coverage of a whole server differs in each run, so without this limit minimizing would take most
// of the time.
package acceptance
