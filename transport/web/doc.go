// Package web serves the browser app: its pages and assets, with protective headers. A program
// built without the app serves a plain page instead.
//
// The app is built from transport/web/app into transport/web/built (make build), and embedded from
// there. Common responses are prepared at startup: each page with its title, and each file with its
// entity tag. Files larger than a packet are embedded only in Brotli, which needs a fifth of their
// size. Other codings are produced at the first request. A request is a look-up by its path as
// sent. No path reaches a file system or is decoded, so path traversal is impossible.
//
// index.html must contain one <html lang="en">, one <title>, and one <!--app:noscript--> in its
// body, where the server writes the text for people without JavaScript. For a certificate
// (/verify/<id>) this text is the certificate's validity. Title and text are in the language
// requested by the browser. The page also names the file with the app's texts in that language, so
// that it is loaded together with the program and not after it.
//
// The frame that draws authors' diagrams (/diagram.html) has its own policy, with a sandbox.
// Documents without an origin can load its scripts.
//
// A Handler is immutable and safe for concurrent use. It responds to every request. If a
// certificate cannot be looked up, the response is 503.
package web
