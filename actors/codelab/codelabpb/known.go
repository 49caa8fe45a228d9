package codelabpb

// Known reports whether this program knows the event.
func (m *Event) Known() bool { return m.Body != nil }
