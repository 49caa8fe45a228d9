// Package upstream asks a language model over HTTP and streams its answer: the Gemini
// streamGenerateContent protocol, or OpenAI-compatible chat completions.
//
// Nothing from an upstream is trusted or forwarded unchanged. Lines, events and the whole answer
// are bounded in bytes and in time: to connect, to the first event, between two events, and in
// total. Redirects are not followed, and only the fields of a Chunk are read. A failure is a
// *Failure with this package's own text. The key is used in one request header and nowhere else.
package upstream
