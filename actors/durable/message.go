package durable

// Message is an event that encodes itself as protobuf.
type Message interface {
	SizeVT() int
	MarshalToSizedBufferVT(b []byte) (int, error)
}

// AppendMessage appends an encoded message to dst; it serves as
// Kind.AppendEvent.
func AppendMessage[E Message](dst []byte, e E) ([]byte, error) {
	n, size := len(dst), e.SizeVT()
	if cap(dst)-n < size {
		dst = append(make([]byte, 0, n+size+64), dst...)
	}
	dst = dst[:n+size]
	_, err := e.MarshalToSizedBufferVT(dst[n:])
	return dst, err
}
