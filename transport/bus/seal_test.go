package bus

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func testSealer(t testing.TB, secret, cluster, node string) (keys, *sealer) {
	t.Helper()
	k, err := newKeys(secret, cluster)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSealer(k, node)
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// sealed returns a message as it is sent to other nodes.
func (s *sealer) sealed(t testing.TB, to address, p part) (message []byte) {
	t.Helper()
	err := s.with(to, s.serial.Add(1), p, func(b []byte) error { message = bytes.Clone(b); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// opens opens a message with these keys, as another node does.
func opens(t testing.TB, k keys, subject, reply string, message []byte) (e envelope, p part, ok bool) {
	t.Helper()
	if e, ok = parseEnvelope(bytes.Clone(message)); !ok {
		return e, p, false
	}
	aead, err := k.of(string(e.node), e.sender)
	if err != nil {
		t.Fatal(err)
	}
	reader := &sealer{}
	reader.scratch.New = func() any { return new(scratch) }
	p, ok = reader.open(aead, subject, reply, e)
	return e, p, ok
}

// A message is rejected if it was changed in transit, or if its subject, reply subject, cluster or
// secret is a different one. It does not contain its data in clear.
func TestChangedMessagesAreRejected(t *testing.T) {
	k, s := testSealer(t, "secret", "cluster", "a")
	to := address{"subject", "reply", session{7}}
	whole := s.sealed(t, to, part{first: 7, number: 1, count: 2, data: []byte("the data")})
	e, p, ok := opens(t, k, "subject", "reply", whole)
	if !ok || string(e.node) != "a" || e.sender != s.session || e.receiver != to.receiver || string(p.data) != "the data" || p.first != 7 || p.number != 1 || p.count != 2 {
		t.Fatalf("the opened message is %+v, %+v, %v", e, p, ok)
	}
	for i := range whole {
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 1 << bit
			if _, _, ok := opens(t, k, "subject", "reply", changed); ok {
				t.Errorf("with bit %d of byte %d changed, the message is accepted", bit, i)
			}
		}
		if _, _, ok := opens(t, k, "subject", "reply", whole[:i]); ok {
			t.Errorf("the first %d bytes of the message are accepted", i)
		}
	}
	for what, other := range map[string]address{"subject": {subject: "subjec", reply: "treply"}, "reply": {subject: "subject", reply: "other"}} {
		if _, _, ok := opens(t, k, other.subject, other.reply, whole); ok {
			t.Errorf("the message is accepted with another %s", what)
		}
	}
	for what, names := range map[string][2]string{"secret": {"other", "cluster"}, "cluster": {"secret", "other"}} {
		other, _ := testSealer(t, names[0], names[1], "a")
		if _, _, ok := opens(t, other, "subject", "reply", whole); ok {
			t.Errorf("the message is accepted with another %s", what)
		}
	}
	if bytes.Contains(whole, []byte("data")) {
		t.Error("the message contains its data in clear")
	}
	again := s.sealed(t, to, part{first: 7, number: 1, count: 2, data: []byte("the data")})
	if bytes.Equal(whole[len(whole)-tagBytes:], again[len(again)-tagBytes:]) {
		t.Error("two messages with the same content have the same tag")
	}
}

// In any order of arrival, each serial is accepted once. Serials older than the window are
// rejected.
func TestAWindowAcceptsEachSerialOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		floor := rapid.Uint64Range(0, 100).Draw(t, "floor")
		w, taken, top := newWindow(floor), map[uint64]bool{}, floor
		for range rapid.IntRange(1, 200).Draw(t, "messages") {
			n := rapid.OneOf(
				rapid.Uint64Range(0, 200), rapid.Uint64Range(top, top+70),
				rapid.Uint64Range(max(top, windowSerials+2)-windowSerials-2, top), rapid.Uint64Range(top, top+3*windowSerials),
			).Draw(t, "serial")
			want := accepted
			switch {
			case n <= floor || n+windowSerials <= top:
				want = Late
			case taken[n]:
				want = Replayed
			}
			if got := w.admit(n); got != want {
				t.Fatalf("serial %d with floor %d and top %d: %v, want %v", n, floor, top, got, want)
			}
			if want == accepted {
				taken[n], top = true, max(top, n)
			}
		}
	})
}

func FuzzEnvelopes(f *testing.F) {
	k, s := testSealer(f, "secret", "", "a")
	// The fuzzer runs several processes, and all of them need the session of the seeds.
	s.session = session{1}
	var err error
	if s.aead, err = k.of("a", s.session); err != nil {
		f.Fatal(err)
	}
	f.Add(s.sealed(f, address{subject: "s"}, part{count: 1, data: []byte("x")}))
	f.Add([]byte{sealVersion, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, _, ok := opens(t, k, "s", "", b); ok && e.sender != s.session {
			t.Error("a forged message is accepted")
		}
	})
}
