// Package auth tells who is calling: sessions of browsers, API tokens of
// automation, and the login that starts a session.
//
// A browser holds a signed reference to its session; what the session may do
// is kept on the server (login.Sessions). The CSRF token is derived from the
// session id, so it needs no store and belongs to that id alone.
//
// What lives longer than the request that began it, a live connection or an
// answer of the AI, is held here (Hold) and ends with the grant it stands on.
// Hold checks the grant again after noting the holder: a grant that ends in
// between ends what was to begin.
package auth
