// Package auth identifies callers by browser sessions, API tokens and personal secrets. It also
// implements the login that starts a session.
//
// A browser stores a signed reference to its session; the session's grants are stored on the server
// (login.Sessions). The CSRF token is derived from the session id, so it needs no store and is
// valid for that id alone.
//
// Live connections and AI answers outlive their request. They are registered here (Hold) and end
// with their grant. Hold checks the grant again after registering the holder, so a grant that ends
// in between also ends the holder.
package auth
