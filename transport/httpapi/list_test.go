package httpapi

import (
	"errors"
	"iter"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/transport/wire"
)

// TestAListIsThatOfItsValues, however many there are, and is not begun where one fails.
func TestAListIsThatOfItsValues(t *testing.T) {
	failed := errors.New("it cannot be read")
	upTo := func(n int, end error) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for i := range n {
				if !yield(string(rune('a'+i%26)), nil) {
					return
				}
			}
			if end != nil {
				yield("", end)
			}
		}
	}
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		all := make([]string, n)
		for i := range all {
			all[i] = string(rune('a' + i%26))
		}
		want, err := wire.Codec.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &fasthttp.RequestCtx{}
		if err := JSONList(Alone(ctx, Endpoint{}), n, upTo(n, nil)); err != nil || string(ctx.Response.Body()) != string(want) {
			t.Errorf("of %d: %v, %.80s", n, err, ctx.Response.Body())
		}
		ctx = &fasthttp.RequestCtx{}
		if err := JSONList(Alone(ctx, Endpoint{}), n, upTo(n, failed)); !errors.Is(err, failed) || len(ctx.Response.Body()) > 0 {
			t.Errorf("of %d that fail: %v, %.80s", n, err, ctx.Response.Body())
		}
	}
}
