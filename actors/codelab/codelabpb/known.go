package codelabpb

// Known reports whether the event has content that this program can decode.
func (m *Event) Known() bool { return m.Body != nil }
