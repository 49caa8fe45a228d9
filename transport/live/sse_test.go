package live

import "testing"

func TestSSEEvents(t *testing.T) {
	for _, c := range []struct {
		seq     uint64
		payload string
		want    string
	}{
		{7, `{"a":1}`, "id: e1:7\ndata: {\"a\":1}\n\n"},
		{0, `{"a":1}`, "data: {\"a\":1}\n\n"},
		{0, "two\nlines", "data: two\ndata: lines\n\n"},
	} {
		if got := string(SSE.append(nil, "e1", c.seq, []byte(c.payload))); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
