// Package auth tells who is calling: sessions of browsers, API tokens of
// automation, and the login that starts a session.
//
// A browser holds a signed reference to its session; what the session may do
// is kept on the server (catalog.Sessions). One session may hold an admin's
// grant and one attendee grant per codelab. The CSRF token is derived from the
// session id, so it needs no store and belongs to that session alone.
package auth
