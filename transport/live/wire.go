package live

// wire is one connection's way out, and its end. All methods are called by the
// loop goroutine that owns the connection, and none of them blocks.
type wire interface {
	// write hands over as much of p as the peer has room for. When it takes
	// less, the loop is told once there is room again.
	write(p []byte) (int, error)
	// close ends the connection; what was written before is still delivered.
	close()
	// abort ends the connection and throws away what was not yet delivered.
	abort()
}
