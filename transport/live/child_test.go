package live

// runChild is where a re-executed test binary becomes a helper process.
func runChild() bool { return false }
