// Package web serves the browser app: its pages and its assets, with the headers that protect
// them. A program that was built without the app serves a plain page instead.
//
// The app is built from transport/web/app into transport/web/built (make build), and
// embedded from there. Common responses are prepared when the server starts: each page with
// its title, each file in Brotli with its entity tag, all headers. Files larger than a
// packet are embedded only in Brotli, a fifth of their size; other codings are made on the
// first request. A request is a look-up by its path as sent. No path reaches a file system
// or is decoded, so path traversal is impossible.
//
// What index.html promises: one <html lang="en">, one <title>, and one <!--app:noscript-->
// in its body, where the server writes the text for people without JavaScript. For a
// certificate (/verify/<id>) that is its validity. Title and text are in the language that the
// browser requests. The page also names the file with the app's texts in that language, so that
// it is loaded together with the program and not after it.
//
// The frame in which authors' diagrams are drawn (/diagram.html) has a policy of its own, with a
// sandbox; its scripts may be loaded by documents without an origin.
//
// A Handler is immutable and safe for concurrent use. It answers every request
// that it is given; nothing fails but the question for a certificate, which is
// answered 503 then.
package web
