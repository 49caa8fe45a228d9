// Package acceptance holds tests of the whole server at the border people use:
// HTTP, WebSocket, SSE and the binary. It has no code of its own but what its
// tests share: a server on a temporary folder, and clients whose every answer
// and message is checked against the OpenAPI and AsyncAPI documents. Anything
// undocumented fails the test in which it comes.
//
// A new operation needs a line in the table of badinput_test.go; what can be
// wrong about its body is read off its schema. A new format of the data folder
// needs a fixture: go test -run TestFormatsOpen -write-format. Fuzz the border
// with -fuzz FuzzJSONCommands -fuzzminimizetime 5x: coverage of a whole server
// is never the same twice, and minimizing for it takes most of the time.
package acceptance
