package broadcast

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// chatty is a dialect with every field set.
var chatty = Dialect{
	Send: `{"n":"{{seq}}","t":"{{stamp}}","p":"{{pad}}"}`, Size: 100, Match: `"n":"(?P<seq>\d+)","t":"(?P<stamp>\d+)"`,
	Ready: `"hello"`, Ack: `"ack":(?P<seq>\d+)`, Refusal: `"no":(?P<seq>\d+)`, Gap: `"gap"`,
	Position: `"pos":(?P<position>\d+)(?:,"epoch":"(?P<epoch>[^"]+)")?`, Resume: "&from={{position}}&of={{epoch}}",
	Answers: []Answer{{"ping", "pong"}},
}

func TestStampsAreFoundInSentMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := chatty
		d.Size = rapid.IntRange(0, 3000).Draw(t, "size")
		us, seq := rapid.Uint64Range(0, 1<<37).Draw(t, "due"), rapid.Uint64Range(0, 1<<39).Draw(t, "seq")
		due := time.Duration(us) * time.Microsecond
		text := d.script().message(sealer(42).seal(due, seq), seq)
		if d.Size > 80 && len(text) != d.Size {
			t.Errorf("the message has %d bytes, want %d", len(text), d.Size)
		}
		r, err := newReader(&d, 42, 1)
		if err != nil {
			t.Fatal(err)
		}
		if h := r.find(text).parsed; !slices.Equal(h.messages, []delivery{{seq, due}}) {
			t.Errorf("found %+v in %s", h.messages, text)
		}
	})
}

// A remembered frame is read like a new one, regardless of the frames in between.
func TestRememberedFramesAreReadLikeNewOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			n := rapid.IntRange(0, 9).Draw(t, "n")
			return rapid.SampledFrom([]string{
				fmt.Sprintf(`{"n":"%d","t":"%d"}{"n":"%d","t":"7"}`, n, n*10, n+1), fmt.Sprintf(`{"ack":%d}`, n), fmt.Sprintf(`{"no":%d}`, n),
				`"hello"`, `{"gap"}`, "ping", fmt.Sprintf(`{"pos":%d,"epoch":"e%d"}`, n, n), fmt.Sprintf(`{"pos":%d}`, n), "", "else",
				strings.Repeat(" ", largestKept) + fmt.Sprintf(`{"ack":%d}`, n),
			}).Draw(t, "frame")
		}), 1, 60).Draw(t, "frames")
		r, err := newReader(&chatty, 42, 3)
		if err != nil {
			t.Fatal(err)
		}
		var connections [2]*known // each frame arrives on one of two connections
		for i, f := range frames {
			at := &connections[rapid.IntRange(0, 1).Draw(t, fmt.Sprint("connection", i))]
			fresh := r.parse([]byte(f))
			// The caller reuses the buffer.
			buffer := []byte(f)
			*at = r.read(buffer, *at)
			got := (*at).parsed
			for i := range buffer {
				buffer[i] = 'X'
			}
			if !reflect.DeepEqual(got, fresh) {
				t.Fatalf("%q is read as %+v, want %+v", f, got, fresh)
			}
		}
	})
}

// A frame that is in flight to many clients is parsed once, even if 600 frames are in flight.
func TestFramesInFlightAreParsedOnce(t *testing.T) {
	r, err := newReader(&chatty, 42, 1)
	if err != nil {
		t.Fatal(err)
	}
	var first []*known
	for round := range 2 {
		for i := range 600 {
			k := r.find(chatty.script().message(7, uint64(i)))
			if round == 0 {
				first = append(first, k)
			} else if k != first[i] {
				t.Fatalf("frame %d was parsed again", i)
			}
		}
	}
}

func TestFramesAreParsed(t *testing.T) {
	r, err := newReader(&chatty, 42, 2)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.find([]byte("ping")).parsed; h.answer != "pong" {
		t.Error("a heartbeat has no answer")
	}
	if h := r.find([]byte(`{"pos":12,"epoch":"ab"}`)).parsed; h.position != 12 || h.epoch != "ab" {
		t.Errorf("the position is %d, the epoch %q, want 12 and ab", h.position, h.epoch)
	}
	if got := chatty.script().from(12, "ab"); got != "&from=12&of=ab" {
		t.Errorf("the parameters of the position are %q, want \"&from=12&of=ab\"", got)
	}
	// Numbers that are too large for any run, and invalid stamps, are reported.
	frame := `{"n":"99999999999999","t":"1"}{"n":"99999999999999999999999","t":"1"}{"n":"7","t":"99999999999999999999999"}`
	if h := r.find([]byte(frame)).parsed; !slices.Equal(h.messages, []delivery{{r.beyond, forged}, {r.beyond, forged}, {7, forged}}) {
		t.Errorf("the messages are %+v", h.messages)
	}
}

func TestInvalidDialectsAreRefused(t *testing.T) {
	if err := chatty.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Dialect){
		"{{stamp}}":      func(d *Dialect) { d.Send = "{{seq}} {{pad}}" },
		"{{seq}}":        func(d *Dialect) { d.Send = "{{stamp}} {{pad}}" },
		"{{pad}}":        func(d *Dialect) { d.Send = "{{stamp}} {{seq}}" },
		"no --match":     func(d *Dialect) { d.Match = "" },
		"(?P<stamp>…)":   func(d *Dialect) { d.Match = `(?P<seq>\d+)` },
		"match":          func(d *Dialect) { d.Match = "(" },
		"ack":            func(d *Dialect) { d.Ack = `\d+` },
		"(?P<position>…": func(d *Dialect) { d.Position = "x" },
		"header":         func(d *Dialect) { d.Headers = []string{"A: b\r\nC: d"} },
	} {
		d := chatty
		change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %s, got %v", want, err)
		}
	}
}

func BenchmarkReadAgain(b *testing.B) {
	r, err := newReader(&chatty, 42, 1)
	if err != nil {
		b.Fatal(err)
	}
	d := chatty
	d.Size = 200
	frame := d.script().message(1_000_000, 5)
	var last *known
	for b.Loop() {
		last = r.read(frame, last)
	}
}
