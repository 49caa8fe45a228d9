// Package acceptance holds tests of the whole server at the border people use:
// HTTP, WebSocket, SSE and the binary. It has no code of its own but what its
// tests share: a server on a temporary folder, and clients whose every answer
// is held against the OpenAPI document.
package acceptance
