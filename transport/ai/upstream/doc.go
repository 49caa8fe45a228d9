// Package upstream asks a language model over HTTP and streams its answer: the Gemini
// streamGenerateContent protocol, or OpenAI-compatible chat completions.
//
// An upstream is not trusted. Lines, events and the whole answer are bounded in bytes. The time is
// bounded until the connection, until the first event, between two events, and in total. Redirects
// are not followed. Events are decoded, and only the fields of a Chunk are used. A failure is a
// *Failure with this package's own text. The key is used in one request header and nowhere else.
package upstream
