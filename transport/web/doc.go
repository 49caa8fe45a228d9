// Package web serves the browser app: its pages and its assets, with the
// headers that protect them, and in its place a plain page when the program was
// built without it.
//
// The app is built from transport/web/app into transport/web/built (make
// build), and embedded from there. Everything that most ask for is prepared when the
// server starts: each page with its title, each file in Brotli with its entity tag, all
// headers. What is larger than a packet is embedded in Brotli alone, which is a fifth of it;
// other codings are made when somebody asks first. A request is a look-up by its path as it
// was sent. No path ever reaches a file system, and none is decoded, so there is nothing to
// climb out of.
//
// What index.html promises: one <html lang="en">, one <title>, and one
// <!--app:noscript--> in its body, where the server writes what people without JavaScript are told. Of a
// certificate (/verify/<id>) that is whether it is valid. Title and text are in
// the language that the browser asks for, and the page names the file with the
// app's texts in it, so that this is loaded with the program and not after it.
//
// The frame in which authors' diagrams are drawn (/diagram.html) has a policy of its own, with a
// sandbox; its scripts may be loaded by documents without an origin.
//
// A Handler is immutable and safe for concurrent use. It answers every request
// that it is given; nothing fails but the question for a certificate, which is
// answered 503 then.
package web
