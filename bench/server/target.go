//go:build linux

package server

// Target is the server of a run.
type Target struct {
	URL, AdminID, AdminPW string
	// Via is the address of the tunnel to a server that speaks TLS, else "".
	Via string
	// Process is set when the server is the run's own. It must be started.
	Process *Process
	// Usage weighs the server, Inside reads its metrics; nil when that is not
	// possible. Both may be called from any goroutine.
	Usage  func() (Usage, error)
	Inside func() (Inside, error)
}
