// Package upstream asks a language model over HTTP and reads its answer as it
// comes: the Gemini streamGenerateContent protocol, or OpenAI-compatible chat
// completions.
//
// Nothing that an upstream sends is trusted or passed on unchanged. Lines, events and the whole
// answer are bounded in bytes and in time: to connect, to the first event, between two events,
// and in all. Redirects are not followed, and only the fields of a Chunk are read. A failure is a
// *Failure whose text is this package's own. The key goes into one header of the request and
// nowhere else.
package upstream
