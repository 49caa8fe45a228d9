// Package upstream asks a language model over HTTP and reads its answer as it
// comes: the Gemini streamGenerateContent protocol, or OpenAI-compatible chat
// completions.
//
// Nothing that an upstream sends is believed or passed on as it is: lines,
// events and the whole answer are bounded in bytes and in time (to connect, to
// the first event, between two, in all), redirects are not followed, and only
// the fields that a Chunk has are read. A failure is a *Failure whose text is
// ours. The key goes into one header of the request and nowhere else.
package upstream
