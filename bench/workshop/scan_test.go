package workshop

import (
	"encoding/json"
	"testing"
)

const chatEvent = `{"type":"chat","seq":4211,"ts":"2026-01-02T03:04:05.678Z","id":"0197","sender":"Åsa \"A\" {x}","sender_id":"0198","message":"m-7f-12 he said \\\"seq\\\":9 and left"}`

func TestScanFindsTheFields(t *testing.T) {
	var m message
	if !scanMessage([]byte(chatEvent), &m) {
		t.Fatal("the message was not scanned")
	}
	if string(m.Type) != "chat" || m.Seq != 4211 || string(m.ID) != "0197" || string(m.Text[:7]) != "m-7f-12" {
		t.Errorf("got type %q seq %d id %q text %q", m.Type, m.Seq, m.ID, m.Text)
	}
}

func TestScanReadsOnlyTheTopLevel(t *testing.T) {
	const nested = ` { "you" : {"type":"x","seq":1,"list":["}",{"id":"no"}]} , "seq" : 7 , "type" : "welcome" , "epoch":"e","head":9 } `
	var m message
	if !scanMessage([]byte(nested), &m) || string(m.Type) != "welcome" || m.Seq != 7 || m.ID != nil {
		t.Errorf("scanned %+v", m)
	}
}

func TestScanAcceptsOnlyObjects(t *testing.T) {
	for _, text := range []string{"", " ", "[]", `"type"`, "{", `{"type"`, `{"type":`, `{"type":"chat`, `{"type":"chat"`, `{"a":1,}`, `{"a":[1}`, `{a:1}`, `{"a" 1}`, `{"a":}`, `{"a":1 "b":2}`} {
		var m message
		if scanMessage([]byte(text), &m) {
			t.Errorf("%q was scanned as an object", text)
		}
	}
}

// Scanning any JSON object returns the same type, ref and epoch as a JSON decoder, but with their
// escapes. Other input must not cause a panic.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{chatEvent, `{}`, `{"type":"a","type":"b"}`, `{"seq":18446744073709551615}`, `{"type":"\\"}`, `{"type":"\\\"","seq":1}`, "{\"\\u0074ype\":1}", `{"a":[{"b":"]"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var m message
		scanned := scanMessage(p, &m)
		var fields map[string]json.RawMessage
		if json.Unmarshal(p, &fields) != nil || fields == nil {
			return
		}
		if !scanned {
			t.Fatalf("the object %q was not scanned", p)
		}
		for key, want := range fields {
			got := m.Type
			switch {
			case key == "type" && want[0] == '"':
			case key == "ref" && want[0] == '"':
				got = m.Ref
			case key == "epoch" && want[0] == '"':
				got = m.Epoch
			default:
				continue
			}
			if want := string(want[1 : len(want)-1]); string(got) != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	p := []byte(chatEvent)
	var m message
	b.ReportAllocs()
	for b.Loop() {
		scanMessage(p, &m)
	}
}
