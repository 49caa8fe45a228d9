package wire

// HasPrefix says that b begins with prefix. Each request asks it of its path several
// times: strings.HasPrefix would copy the path.
func HasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
